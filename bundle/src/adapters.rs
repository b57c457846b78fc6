//! The adapters that answer on this machine, and the choice of one.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::options::Options;
use crate::{Setting, child, vulkan};

/// An adapter as the program `doctor` describes it.
#[derive(Debug, Clone)]
pub struct Adapter {
    /// In the order in which adapters are preferred.
    pub number: usize,
    /// Name, type, driver, memory and limits.
    pub about: Value,
}

impl Adapter {
    fn text(&self, field: &str) -> &str {
        self.about[field].as_str().unwrap_or("unknown")
    }

    pub fn name(&self) -> &str {
        self.text("name")
    }

    pub fn is_gpu(&self) -> bool {
        ["DiscreteGpu", "IntegratedGpu", "VirtualGpu"].contains(&self.text("type"))
    }

    /// Whether it could be opened.
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

/// All adapters that answer, the best first.
pub fn list(setting: &Setting) -> Result<Vec<Adapter>, String> {
    let log = setting.out.join("adapters.log");
    let command = child::benchmark(setting, "adapters");
    let ended = child::run(command, &log, Duration::from_secs(60), &setting.stop)?;
    let adapters = described(&ended.text);
    if adapters.is_empty() {
        return Err(format!("no adapter answers ({}). See {}", vulkan::facts(), log.display()));
    }
    Ok(adapters)
}

/// The adapters of a text with a line of JSON for each. The test harness begins such a line with words of its own.
fn described(text: &str) -> Vec<Adapter> {
    let json = |line: &str| serde_json::from_str(&line[line.find("{\"")?..]).ok();
    let known = text.lines().filter_map(json).filter(|about: &Value| about["name"].is_string());
    known.enumerate().map(|(number, about)| Adapter { number, about }).collect()
}

/// The adapter that the command line asks for.
pub fn choose<'a>(adapters: &'a [Adapter], options: &Options) -> Result<&'a Adapter, String> {
    let listed = || adapters.iter().map(|adapter| format!("\n  {adapter}")).collect::<String>();
    let adapter = match &options.adapter {
        None => adapters
            .iter()
            .find(|adapter| adapter.opens())
            .ok_or_else(|| format!("no adapter can be opened:{}", listed()))?,
        Some(asked) => {
            let wanted = asked.to_lowercase();
            let fits = |adapter: &&Adapter| match asked.parse::<usize>() {
                Ok(number) => adapter.number == number,
                Err(_) => adapter.name().to_lowercase().contains(&wanted),
            };
            adapters
                .iter()
                .find(fits)
                .ok_or_else(|| format!("no adapter fits {asked:?}. These answer:{}\n({})", listed(), vulkan::facts()))?
        }
    };
    if options.gpu && !adapter.is_gpu() {
        return Err(format!(
            "a GPU was asked for, and {} is none. These answer:{}\n({})",
            adapter.name(),
            listed(),
            vulkan::facts()
        ));
    }
    Ok(adapter)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn two() -> Vec<Adapter> {
        described(concat!(
            "running 1 test\n",
            "test benchmarks::run::adapters ... {\"name\":\"RTX 9\",\"type\":\"DiscreteGpu\",\"memory_mib\":81920}\n",
            "{\"name\":\"llvmpipe\",\"type\":\"Cpu\"}\nok\n",
        ))
    }

    fn chosen(words: &[&str]) -> Result<usize, String> {
        let options = Options::parse_from([&["run-all"], words].concat());
        choose(&two(), &options).map(|adapter| adapter.number)
    }

    #[test]
    fn adapters_are_read_behind_the_words_of_the_harness() {
        let two = two();
        assert_eq!(two.len(), 2);
        assert_eq!(two[0].to_string(), "0: RTX 9 (unknown, DiscreteGpu, unknown, 80.0 GiB)");
        assert!(two[0].is_gpu() && !two[1].is_gpu());
    }

    #[test]
    fn software_adapter_in_place_of_a_gpu_is_an_error_that_lists_all() {
        assert_eq!(chosen(&[]), Ok(0));
        assert_eq!(chosen(&["--gpu"]), Ok(0));
        assert_eq!(chosen(&["--adapter", "LLVM"]), Ok(1));
        assert_eq!(chosen(&["--adapter", "1"]), Ok(1));
        for words in [&["--adapter", "H100"][..], &["--adapter", "llvm", "--gpu"], &["--adapter", "2"]] {
            let message = chosen(words).unwrap_err();
            assert!(message.contains("0: RTX 9") && message.contains("1: llvmpipe"), "{message}");
        }
    }
}
