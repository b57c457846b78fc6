//! [`TopicTable`]: the rows of a topic on one machine, as Markdown and as the panel of a plot.

use super::case::{Case, Goal, Peer};
use super::plot::{Bar, Panel, Plot, PlotRow, Scale};
use super::quantity;
use super::results::{MeasuredMachine, Run, date_range};
use super::topic::{Field, Topic};

/// The rows of a topic on one machine.
pub(super) struct TopicTable<'a> {
    topic: &'a Topic,
    machine: &'a MeasuredMachine,
    runs: Vec<&'a Run>,
    rows: Vec<Row<'a>>,
}

/// A case in each run of the table.
struct Row<'a> {
    case: &'a Case,
    label: String,
    cells: Vec<Option<Cell<'a>>>,
}

/// A case in one run.
struct Cell<'a> {
    case: &'a Case,
    peers: Vec<Peer>,
}

/// Bars of one colour: the ratio to a peer, or a field of the library.
struct Series {
    run: usize,
    peer: Option<String>,
    name: String,
}

/// A column of numbers of one run.
struct Column<'a> {
    run: usize,
    kind: ColumnKind<'a>,
    heading: String,
}

enum ColumnKind<'a> {
    Time,
    Field(&'a Field),
    Peer(String),
}

impl<'a> TopicTable<'a> {
    /// The table of a topic; `None` if the machine has no case of the topic.
    pub(super) fn new(topic: &'a Topic, machine: &'a MeasuredMachine) -> Option<Self> {
        let all: Vec<&Run> = machine.runs.iter().filter(|run| run.benchmark == topic.benchmark).collect();
        let named = topic.ranks.iter().flat_map(|ranks| all.iter().filter(move |run| run.ranks.to_string() == **ranks));
        let named: Vec<&Run> = named.copied().collect();
        let mut runs = if named.is_empty() { all } else { named };
        runs.sort_by_key(|run| !run.is_native);
        let mut rows: Vec<Row<'_>> = Vec::new();
        for (index, run) in runs.iter().enumerate() {
            for case in run.cases.iter().filter(|case| topic.selects(&case.name)) {
                let cell = Cell { case, peers: peers_of_case(topic, machine, run, case) };
                let same = |row: &Row<'_>| row.case.name == case.name && row.case.access == case.access;
                let row = rows.iter().position(same).unwrap_or_else(|| {
                    let cells = runs.iter().map(|_| None).collect();
                    rows.push(Row { case, label: String::new(), cells });
                    rows.len() - 1
                });
                rows[row].cells[index] = Some(cell);
            }
        }
        let access = rows.first()?.case.access;
        let has_one_access = rows.iter().all(|row| row.case.access == access);
        for row in &mut rows {
            let access = if has_one_access || row.case.access.is_empty() { "" } else { row.case.access };
            let separator = if access.is_empty() { "" } else { ", " };
            row.label = format!("{}{separator}{access}", row.case.name.replace("^2", "²").replace("^3", "³"));
        }
        Some(Self { topic, machine, runs, rows })
    }

    /// The newest date of the runs.
    pub(super) fn date(&self) -> &str {
        self.runs.iter().map(|run| run.date.as_str()).max().unwrap_or_default()
    }

    /// Machine, backend of kernels and dates of the runs, on one line.
    pub(super) fn caption(&self) -> String {
        self.caption_of(&self.runs)
    }

    fn caption_of(&self, runs: &[&Run]) -> String {
        let is_native = |native: bool| runs.iter().any(|run| run.is_native == native);
        let kernels = match (is_native(true), is_native(false)) {
            _ if !self.machine.is_processor => "",
            (true, false) => ", native kernels",
            (false, true) => ", kernels by the software driver",
            _ => ", native kernels and kernels by the software driver",
        };
        let dates = date_range(runs.iter().copied());
        let problems = runs.iter().filter_map(|run| Some(format!("; {}: {}", run.ranks, run.problem.as_ref()?)));
        format!("{}{kernels}, {dates}{}", self.machine.name, problems.collect::<String>())
    }

    /// Number of different peers.
    pub(super) fn peer_count(&self) -> usize {
        let names = (0..self.runs.len())
            .flat_map(|run| self.peer_names(run).into_iter().filter(move |name| self.has_peer(run, name)));
        names.collect::<std::collections::BTreeSet<_>>().len()
    }

    /// Removes the words from labels that all labels of all tables begin with.
    pub(super) fn shorten_labels(tables: &mut [Self]) {
        let prefix = common_prefix(tables.iter().flat_map(|table| &table.rows).map(|row| row.label.as_str()));
        tables.iter_mut().flat_map(|table| &mut table.rows).for_each(|row| _ = row.label.drain(..prefix));
    }

    /// The table as Markdown.
    pub(super) fn markdown(&self) -> String {
        let columns = self.columns();
        let cells = |row: &Row<'_>| columns.iter().map(|column| self.cell(row, column).unwrap_or("–".into())).collect();
        let mut lines: Vec<Vec<String>> = self.rows.iter().map(cells).collect();
        let mut headings: Vec<String> = columns.into_iter().map(|column| column.heading).collect();
        if self.rows.iter().any(|row| row.goal().is_some()) {
            headings.push("goal".into());
            for (line, row) in lines.iter_mut().zip(&self.rows) {
                line.push(row.goal().map_or("–".into(), |goal| self.goal_text(goal)));
            }
        }
        let mut text = format!("| case | {} |\n|---|{}\n", headings.join(" | "), "---:|".repeat(headings.len()));
        for (row, line) in self.rows.iter().zip(lines) {
            text += &format!("| {} | {} |\n", row.label.replace('|', "\\|"), line.join(" | "));
        }
        text
    }

    /// Columns with at least one number.
    fn columns(&self) -> Vec<Column<'a>> {
        let mut columns = Vec::new();
        for run in 0..self.runs.len() {
            let fields = self.topic.columns.iter().map(ColumnKind::Field);
            let peers = self.peer_names(run).into_iter().map(ColumnKind::Peer);
            for kind in std::iter::once(ColumnKind::Time).chain(fields).chain(peers) {
                let heading = match &kind {
                    ColumnKind::Time => "Zippy",
                    ColumnKind::Field(field) => &field.heading,
                    ColumnKind::Peer(name) => name,
                };
                let label = match &kind {
                    ColumnKind::Peer(name) => self.peer_label(run, name),
                    _ => self.run_label(run),
                };
                let column = Column { run, heading: format!("{heading}{label}"), kind };
                if self.rows.iter().any(|row| self.cell(row, &column).is_some()) {
                    columns.push(column);
                }
            }
        }
        columns
    }

    /// Ranks and backend of a run, after a comma; empty if the table has one run.
    fn run_label(&self, index: usize) -> String {
        let run = self.runs[index];
        let is_mixed = self.runs.iter().any(|other| other.is_native != run.is_native);
        let backend = if is_mixed && !run.is_native { ", driver" } else { "" };
        if self.runs.len() > 1 { format!(", {}{backend}", run.ranks) } else { String::new() }
    }

    /// Ranks and backend of a run, after a comma. Empty if the table has one run or if no other run
    /// has the peer.
    fn peer_label(&self, run: usize, name: &str) -> String {
        let is_in_others = (0..self.runs.len()).any(|other| other != run && self.has_peer(other, name));
        if is_in_others { self.run_label(run) } else { String::new() }
    }

    fn has_peer(&self, run: usize, name: &str) -> bool {
        self.rows.iter().filter_map(|row| row.cells[run].as_ref()).any(|cell| cell.peer(name).is_some())
    }

    /// Names of the columns of peers of a run.
    fn peer_names(&self, run: usize) -> Vec<String> {
        let ratios = self.topic.ratios.iter().map(|field| field.heading.clone());
        if !self.topic.peers.is_empty() {
            return self.topic.peers.iter().cloned().chain(ratios).collect();
        }
        let mut names: Vec<String> = Vec::new();
        let cells = self.rows.iter().filter_map(|row| row.cells[run].as_ref());
        for peer in cells.flat_map(|cell| &cell.peers) {
            if !names.contains(&peer.name) {
                names.push(peer.name.clone());
            }
        }
        names
    }

    /// Text of a cell; bold if the number misses the goal of the case.
    fn cell(&self, row: &Row<'_>, column: &Column<'_>) -> Option<String> {
        let cell = row.cells[column.run].as_ref()?;
        let case = cell.case;
        let (text, is_missed) = match &column.kind {
            ColumnKind::Time => {
                let secs = case.secs.filter(|_| !self.topic.columns.iter().any(|field| is_time(&field.name)))?;
                (quantity::seconds(secs), matches!(case.goal, Some(Goal::Secs(limit)) if secs > limit))
            }
            ColumnKind::Field(field) => {
                // An operation without bytes has no rate.
                let value = case.field(&field.name).filter(|value| *value != 0.0 || field.name != "gb_per_sec")?;
                let has_goal = self.topic.ratios.is_empty() && self.topic.columns.first() == Some(field);
                let is_missed = matches!(case.goal, Some(Goal::Field(limit)) if has_goal && value > limit);
                (quantity::of_field(&field.name, value), is_missed)
            }
            ColumnKind::Peer(name) => {
                let peer = cell.peer(name)?;
                let secs = peer.secs.map_or(String::new(), |secs| format!(" ({})", quantity::seconds(secs)));
                let limit = match case.goal {
                    Some(Goal::Ratio(limit)) if case.peers.first().is_some_and(|first| first.name == peer.name) => {
                        limit
                    }
                    Some(Goal::Field(limit)) if self.topic.ratios.first().is_some_and(|f| f.heading == peer.name) => {
                        limit
                    }
                    _ => f64::INFINITY,
                };
                (format!("{}{secs}", quantity::ratio(peer.ratio)), peer.ratio > limit)
            }
        };
        Some(if is_missed { format!("**{text}**") } else { text })
    }

    fn goal_text(&self, goal: Goal) -> String {
        let field = self.topic.columns.first().filter(|_| self.topic.ratios.is_empty());
        match (goal, field) {
            (Goal::Secs(limit), _) => {
                format!("≤ {}", quantity::seconds(limit).replace(".0 ", " ").replace(".00 ", " "))
            }
            (Goal::Field(limit), Some(field)) => format!("≤ {}", quantity::of_field(&field.name, limit)),
            (Goal::Ratio(limit) | Goal::Field(limit), _) => {
                format!("≤ {}", quantity::without_zeros((limit * 100.0).round() / 100.0))
            }
        }
    }

    /// Adds the rows of the table to a plot: ratios of the first run that has a peer, or a field of
    /// all runs.
    pub(super) fn add_to(&self, plot: &mut Plot) {
        let scale = plot.scale.clone();
        let (shown, heading) = match &scale {
            Scale::Ratio => {
                let Some(first) = (0..self.runs.len()).find(|&run| self.plotted_peers(run).next().is_some()) else {
                    return;
                };
                let shown = self.plotted_series(first);
                let mut runs: Vec<&Run> = shown.iter().map(|series| self.runs[series.run]).collect();
                runs.dedup_by_key(|run| run.ranks);
                let heading = format!("{}{}", self.caption_of(&runs), self.run_label(first));
                (shown, heading)
            }
            Scale::Field(_) => {
                let times = (0..self.runs.len()).map(|run| {
                    let name = self.run_label(run).trim_start_matches(", ").to_string();
                    Series { run, peer: None, name }
                });
                (times.collect(), self.caption())
            }
        };
        let mut rows = Vec::new();
        for row in &self.rows {
            let bars = shown.iter().filter_map(|Series { run, peer, name }| {
                let cell = row.cells[*run].as_ref()?;
                let (value, quartiles) = match (&scale, peer) {
                    (_, Some(peer)) => cell.peer(peer).map(|peer| (peer.ratio, peer.quartiles))?,
                    (Scale::Field(field), None) if !is_time(field) => (cell.case.field(field)?, None),
                    _ => (cell.case.secs?, None),
                };
                // A logarithmic axis has no zero.
                if value <= 0.0 {
                    return None;
                }
                Some(Bar { series: plot.series(name), value, quartiles })
            });
            let bars: Vec<Bar> = bars.collect();
            if !bars.is_empty() {
                rows.push(PlotRow { label: row.label.clone(), bars });
            }
        }
        plot.panels.push(Panel { heading, rows });
    }

    /// Series of the peers of the run `first`, and of peers that only later runs have.
    fn plotted_series(&self, first: usize) -> Vec<Series> {
        let mut shown: Vec<Series> = Vec::new();
        for run in first..self.runs.len() {
            for peer in self.plotted_peers(run) {
                if !shown.iter().any(|series| series.peer.as_ref() == Some(&peer)) {
                    let label = if run == first { String::new() } else { self.run_label(run) };
                    shown.push(Series { run, name: format!("{peer}{label}"), peer: Some(peer) });
                }
            }
        }
        shown
    }

    /// Names of the peers in the plot that a run has.
    fn plotted_peers(&self, run: usize) -> impl Iterator<Item = String> {
        let names = if self.topic.plot.is_empty() { self.peer_names(run) } else { self.topic.plot.clone() };
        names.into_iter().filter(move |name| self.has_peer(run, name))
    }

    /// True if the plot can show the ratio to a peer.
    pub(super) fn has_ratios(&self) -> bool {
        (0..self.runs.len()).any(|run| self.plotted_peers(run).next().is_some())
    }
}

impl Cell<'_> {
    /// The first peer with a text in its name.
    fn peer(&self, part: &str) -> Option<&Peer> {
        self.peers.iter().find(|peer| peer.name.contains(part))
    }
}

impl Row<'_> {
    fn goal(&self) -> Option<Goal> {
        self.cells.iter().flatten().find_map(|cell| cell.case.goal)
    }
}

/// Bytes of the words that all names begin with, 0 if all names are equal. Words end with a comma
/// and a space.
fn common_prefix<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    let names: Vec<&str> = names.collect();
    let Some(first) = names.first() else { return 0 };
    if names.iter().all(|name| name == first) {
        return 0;
    }
    let ends = first.match_indices(", ").map(|(index, comma)| index + comma.len());
    ends.filter(|end| names.iter().all(|name| name.starts_with(&first[..*end]))).last().unwrap_or(0)
}

/// True for a field that has the time of the library: the column "Zippy" would repeat it.
fn is_time(field: &str) -> bool {
    ["median_secs", "median_step_secs", "median_frame_secs", "secs"].contains(&field)
}

/// Peers of a case: its contenders, ratios in its fields, and the library of the peer benchmark.
fn peers_of_case(topic: &Topic, machine: &MeasuredMachine, run: &Run, case: &Case) -> Vec<Peer> {
    let mut peers = case.peers.clone();
    for field in &topic.ratios {
        let Some(value) = case.field(&field.name) else { continue };
        let quartiles = case.quartiles(&field.name);
        let (ratio, quartiles) = if field.is_inverse {
            (value.recip(), quartiles.map(|[low, high]| [high.recip(), low.recip()]))
        } else {
            (value, quartiles)
        };
        peers.push(Peer { name: field.heading.clone(), secs: None, ratio, quartiles });
    }
    let others = machine.run(&topic.peer_benchmark, run.ranks).map_or(&[][..], |run| &run.cases);
    let other = others.iter().find(|other| other.name == case.name);
    if let Some((ours, secs)) = other.and_then(|other| case.secs.zip(other.secs)) {
        let name = other.map(|other| other.contender.clone()).unwrap_or_default();
        peers.push(Peer { name, secs: Some(secs), ratio: ours / secs, quartiles: None });
    }
    peers
}

#[cfg(test)]
#[path = "../../tests/unit/report/table.rs"]
mod tests;
