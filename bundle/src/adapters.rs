//! List of this machine's adapters, and the choice of an adapter.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::options::Options;
use crate::{RunSetting, child, vulkan};

/// Adapter, as the program `doctor` describes it.
#[derive(Debug, Clone)]
pub(crate) struct Adapter {
    /// Index in the list of adapters, in order of preference.
    pub number: usize,
    /// Name, type, driver, memory and limits.
    pub about: Value,
}

impl Adapter {
    fn text(&self, field: &str) -> &str {
        self.about[field].as_str().unwrap_or("unknown")
    }

    pub(crate) fn name(&self) -> &str {
        self.text("name")
    }

    pub(crate) fn is_gpu(&self) -> bool {
        ["DiscreteGpu", "IntegratedGpu", "VirtualGpu"].contains(&self.text("type"))
    }

    fn opens(&self) -> bool {
        self.about["type"].is_string()
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [backend, kind, driver] = ["backend", "type", "driver"].map(|field| self.text(field));
        write!(f, "{}: {} ({backend}, {kind}, {driver}", self.number, self.name())?;
        match self.about["memory_mib"].as_u64() {
            Some(mib) => write!(f, ", {:.1} GiB)", mib as f64 / 1024.0),
            None => write!(f, ")"),
        }
    }
}

/// Lists the adapters of this machine in order of preference, by a run of `doctor`.
pub(crate) fn list(setting: &RunSetting) -> Result<Vec<Adapter>> {
    let log = setting.out.join("adapters.log");
    let command = child::benchmark(setting, "adapters");
    let ended = child::run(command, &log, Duration::from_secs(60), &setting.stop)?;
    let adapters = parse_adapters(&ended.text);
    if adapters.is_empty() {
        bail!("no adapter answers ({}). See {}", vulkan::diagnostics(), log.display());
    }
    Ok(adapters)
}

/// Parses adapters from a text with a line of JSON per adapter. The test harness can write words
/// before the JSON of a line.
fn parse_adapters(text: &str) -> Vec<Adapter> {
    let json = |line: &str| serde_json::from_str(&line[line.find("{\"")?..]).ok();
    let known = text.lines().filter_map(json).filter(|about: &Value| about["name"].is_string());
    known.enumerate().map(|(number, about)| Adapter { number, about }).collect()
}

/// Returns the adapter that the command line selects, or else the first adapter that opens.
pub(crate) fn choose<'a>(adapters: &'a [Adapter], options: &Options) -> Result<&'a Adapter> {
    let listed = || adapters.iter().map(|adapter| format!("\n  {adapter}")).collect::<String>();
    let adapter = match &options.adapter {
        None => adapters
            .iter()
            .find(|adapter| adapter.opens())
            .with_context(|| format!("no adapter can be opened:{}", listed()))?,
        Some(pattern) => {
            let lowercase = pattern.to_lowercase();
            let matches = |adapter: &&Adapter| match pattern.parse::<usize>() {
                Ok(number) => adapter.number == number,
                Err(_) => adapter.name().to_lowercase().contains(&lowercase),
            };
            adapters.iter().find(matches).with_context(|| {
                format!("no adapter matches {pattern:?}. Available adapters:{}\n({})", listed(), vulkan::diagnostics())
            })?
        }
    };
    if options.gpu && !adapter.is_gpu() {
        bail!(
            "--gpu needs a GPU, and {} is none. Available adapters:{}\n({})",
            adapter.name(),
            listed(),
            vulkan::diagnostics()
        );
    }
    Ok(adapter)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn two_adapters() -> Vec<Adapter> {
        parse_adapters(concat!(
            "running 1 test\n",
            "test benchmarks::run::adapters ... {\"name\":\"RTX 9\",\"type\":\"DiscreteGpu\",\"memory_mib\":81920}\n",
            "{\"name\":\"llvmpipe\",\"type\":\"Cpu\"}\nok\n",
        ))
    }

    fn chosen_number(words: &[&str]) -> Result<usize, String> {
        let options = Options::parse_from([&["run-all"], words].concat());
        choose(&two_adapters(), &options).map(|adapter| adapter.number).map_err(|error| error.to_string())
    }

    #[test]
    fn adapter_after_words_of_the_harness_is_read() {
        let adapters = two_adapters();
        assert_eq!(adapters.len(), 2);
        assert_eq!(adapters[0].to_string(), "0: RTX 9 (unknown, DiscreteGpu, unknown, 80.0 GiB)");
        assert!(adapters[0].is_gpu() && !adapters[1].is_gpu());
    }

    #[test]
    fn unavailable_adapter_is_an_error_that_lists_all_adapters() {
        assert_eq!(chosen_number(&[]), Ok(0));
        assert_eq!(chosen_number(&["--gpu"]), Ok(0));
        assert_eq!(chosen_number(&["--adapter", "LLVM"]), Ok(1));
        assert_eq!(chosen_number(&["--adapter", "1"]), Ok(1));
        for words in [&["--adapter", "H100"][..], &["--adapter", "llvm", "--gpu"], &["--adapter", "2"]] {
            let message = chosen_number(words).unwrap_err();
            assert!(message.contains("0: RTX 9") && message.contains("1: llvmpipe"), "{message}");
        }
    }
}
