//! The same bits on any number of ranks, for saves and loads.

use std::fmt::Debug;
use std::path::Path;

use serde_json::Value;
use zippy::Element;
use zippy::{ArrayOptions, Config, GlobalArray, Layout, Ownership, Result, Split, World, run_with};

use super::{Checkpoint, Checkpoints, Contents, State, bits, directory, names, state};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Particle {
    velocity: [f32; 3],
    mass: f32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Kind {
    id: u32,
    charge: i32,
    spare: [u32; 2],
}

fn cell<T: Element>(at: &[i64]) -> T {
    let mut cell = T::zeroed();
    let bytes: &mut [u8] = bytemuck::bytes_of_mut(&mut cell);
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = (bits(place as u64 / 4, at) >> (8 * (place % 4))) as u8;
    }
    cell
}

fn filled<T: Element, const D: usize>(world: &World, name: &str, layout: &Layout) -> Result<GlobalArray<T, D>> {
    let array = world.array::<T, D>(name, layout)?;
    array.fill_with(|at| cell::<T>(&at))?;
    Ok(array)
}

fn holds<T: Element, const D: usize>(array: &GlobalArray<T, D>) -> Result<()> {
    for chunk in array.chunks() {
        let expected: Vec<T> =
            chunk.region().points().map(|at| cell(&std::array::from_fn::<i64, D, _>(|axis| at[axis]))).collect();
        let found = chunk.all().read()?;
        let bytes = |cells: &[T]| bytemuck::cast_slice::<T, u8>(cells).to_vec();
        assert_eq!(bytes(&found), bytes(&expected), "{} {:?}", array.name(), chunk.region());
    }
    Ok(())
}

fn loaded<T: Element + Debug, const D: usize>(
    checkpoint: &Checkpoint,
    world: &World,
    name: &str,
    split: &Split,
) -> Result<()> {
    let layout = |shape: [i64; D]| Layout::new(shape).split_all(split.clone()).ghost([1; D]).periodic([true; D]);
    let array = checkpoint.array::<T, D>(world, name, layout)?;
    holds(&array)?;
    array.fill(T::zeroed())?;
    checkpoint.fill(world, &array)?;
    holds(&array)
}

const SEVEN: [i64; 7] = [3, 2, 1, 2, 3, 1, 2];

fn save_all(checkpoints: &Checkpoints, world: &World, started: bool) -> Result<()> {
    let uneven = [Split::Sizes(vec![1, 6]), Split::Sizes(vec![0, 5]), Split::Sizes(vec![4, 1, 1])];
    let floats = filled::<f32, 3>(world, "floats", &Layout::new([7, 5, 6]).split(uneven).ghost([2; 3]))?;
    let bytes = Layout::new([13, 9]).split([Split::Sizes(vec![5, 7, 1]), Split::Even(2)]);
    let bytes = filled::<u8, 2>(world, "bytes", &bytes)?;
    let shorts = filled::<i16, 1>(world, "shorts", &Layout::new([437]).split_all(Split::Auto))?;
    let vectors = filled::<[u32; 2], 3>(world, "vectors", &Layout::new([4, 3, 2]).split_all(Split::Even(2)))?;
    let records = Layout::new([29]).split([Split::Sizes(vec![20, 0, 9])]);
    let records = filled::<Particle, 1>(world, "records", &records)?;
    let seven = filled::<i32, 7>(world, "seven", &Layout::new(SEVEN).split_all(Split::Auto))?;
    let fours = filled::<[f32; 4], 4>(world, "fours", &Layout::new([3, 2, 4, 2]).split_all(Split::Even(2)))?;
    let (five, six) = (Layout::new([2, 3, 2, 3, 2]), Layout::new([2, 1, 3, 2, 2, 3]));
    let five = filled::<u16, 5>(world, "five", &five.split_all(Split::Auto))?;
    let six = filled::<i8, 6>(world, "six", &six.split_all(Split::Auto))?;
    let nothing = world.array::<f32, 2>("nothing \"at\" \u{1b} all", &Layout::new([0, 8]).split_all(Split::Auto))?;
    // All chunks on the last rank, and in another order than they were created.
    let ownership = Ownership::table(vec![world.size() - 1; 3], world.size())?;
    let moved = world
        .array::<u32, 1>("moved", ArrayOptions::new(&Layout::new([6]).split([Split::Even(3)])).owned_by(ownership))?;
    let moved = moved.reassigned(&[2, 0, 1])?;
    moved.fill_with(|at| cell(&at))?;
    let mut list = world.growable::<Particle>("list")?;
    list.append(&run(world.rank()).map(|i| cell(&[i as i64])).collect::<Vec<_>>())?;
    let none = world.growable::<u8>("none")?;
    let contents = Contents::new().array(&floats).array(&bytes).growable(&list).array(&shorts).array(&vectors);
    let contents =
        contents.array(&records).growable(&none).state(&state(7)).array(&seven).array(&fours).array(&nothing);
    let contents = contents.array(&five).array(&six).array(&moved);
    if !started {
        return checkpoints.save(world, 7, &contents);
    }
    let pending = checkpoints.start(world, 7, &contents)?;
    drop(contents);
    floats.fill(0.0)?;
    bytes.fill(0)?;
    list.clear();
    list.append(&[bytemuck::Zeroable::zeroed(); 100])?;
    pending.wait()
}

/// Range of a rank's cells in the list: 0 to 12 on rank 0, none on rank 2.
fn run(rank: usize) -> std::ops::Range<u64> {
    let before = |rank: usize| [0, 13, 14, 14, 60, 61][rank];
    before(rank)..before(rank + 1)
}

fn load_all(checkpoint: &Checkpoint, world: &World, split: &Split) -> Result<()> {
    assert_eq!(checkpoint.state::<State>()?, state(7));
    loaded::<f32, 3>(checkpoint, world, "floats", split)?;
    loaded::<u8, 2>(checkpoint, world, "bytes", split)?;
    loaded::<i16, 1>(checkpoint, world, "shorts", split)?;
    loaded::<[u32; 2], 3>(checkpoint, world, "vectors", split)?;
    loaded::<Particle, 1>(checkpoint, world, "records", split)?;
    loaded::<i32, 7>(checkpoint, world, "seven", split)?;
    loaded::<[f32; 4], 4>(checkpoint, world, "fours", split)?;
    loaded::<u16, 5>(checkpoint, world, "five", split)?;
    loaded::<i8, 6>(checkpoint, world, "six", split)?;
    loaded::<u32, 1>(checkpoint, world, "moved", split)?;
    let nothing = checkpoint.array::<f32, 2>(world, "nothing \"at\" \u{1b} all", Layout::new)?;
    assert_eq!(nothing.shape(), [0, 8]);
    assert!(checkpoint.growable::<u8>(world, "none")?.is_empty());
    let list = checkpoint.growable::<Particle>(world, "list")?;
    let (saved, ranks, rank) = (checkpoint.ranks(), world.size() as u64, world.rank() as u64);
    let all = run(saved - 1).end;
    let own = if saved == world.size() { run(world.rank()) } else { all * rank / ranks..all * (rank + 1) / ranks };
    let expected: Vec<Particle> = own.map(|i| cell(&[i as i64])).collect();
    assert_eq!(bytemuck::cast_slice::<_, u8>(&list.all().read()?), bytemuck::cast_slice::<_, u8>(&expected));
    Ok(())
}

#[test]
fn any_ranks_and_cuts_load_the_same_bits() {
    let directory = directory();
    for (number, saving) in [1, 2, 3, 5].into_iter().enumerate() {
        let checkpoints = Checkpoints::new(directory.path().join(format!("{saving}/run.ckpt")), 1);
        run_with(Config::threads(saving), |world| save_all(&checkpoints, world, number % 2 == 1)).unwrap();
        assert_eq!(names(checkpoints.directory()), ["step-000000000007.000001"]);
        let splits = [Split::Auto, Split::Even(2), Split::Whole, Split::Even(3)];
        for (place, loading) in [1, 2, 3, 5].into_iter().enumerate() {
            run_with(Config::threads(loading), |world| {
                let checkpoint = checkpoints.latest(world)?.expect("there is one");
                assert_eq!((checkpoint.step(), checkpoint.ranks()), (7, saving));
                assert!(checkpoint.passed_over().is_empty());
                load_all(&checkpoint, world, &splits[(number + place) % 4])
            })
            .unwrap();
        }
    }
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
}

fn read_by_hand(generation: &Path) {
    let text = std::fs::read(generation.join("manifest.json")).unwrap();
    let first = text.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    assert_eq!(text[..first], *format!("{{\"checksum\": \"{:08x}\",\n", crc(&text[first..])).as_bytes());
    let manifest: Value = serde_json::from_slice(&text).unwrap();
    let ranks = manifest["files"].as_array().unwrap();
    let block = manifest["block_bytes"].as_u64().unwrap() as usize;
    let read = |name: String, sums: &Value| {
        let bytes = std::fs::read(generation.join(name)).unwrap();
        let found: Vec<u32> = bytes.chunks(block).map(crc).collect();
        assert_eq!(serde_json::json!(found), sums["checksums"]);
        assert_eq!(bytes.len() as u64, sums["bytes"].as_u64().unwrap());
        bytes
    };
    read("state.msgpack".into(), &manifest["state"]);
    let files: Vec<_> =
        ranks.iter().enumerate().map(|(rank, sums)| read(format!("rank-{rank:06}.cells"), sums)).collect();
    let array = manifest["arrays"].as_array().unwrap().iter().find(|array| array["name"] == "bytes").unwrap();
    assert_eq!((&array["shape"], &array["element"]["name"]), (&serde_json::json!([13, 9]), &"u8".into()));
    let mut seen = 0;
    for part in array["parts"].as_array().unwrap() {
        let number = |value: &Value| value.as_i64().unwrap();
        let mut offset = number(&part["offset"]) as usize;
        for y in number(&part["start"][1])..number(&part["end"][1]) {
            for x in number(&part["start"][0])..number(&part["end"][0]) {
                assert_eq!(files[number(&part["file"]) as usize][offset], cell::<u8>(&[x, y]));
                (offset, seen) = (offset + 1, seen + 1);
            }
        }
    }
    assert_eq!(seen, 13 * 9);
}

#[test]
fn files_are_as_documented() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 1);
    run_with(Config::threads(3), |world| save_all(&checkpoints, world, false)).unwrap();
    read_by_hand(&directory.path().join("step-000000000007.000001"));
}

/// Numbers that text would not preserve, and settings whose field order must not matter.
#[test]
fn states_keep_their_bits() {
    let (odd, directory) = (f64::from_bits(0x7ff8_0000_0000_1234), directory());
    let checkpoints = Checkpoints::new(directory.path(), 1);
    let state = (f64::INFINITY, odd, 0.1_f32, u64::MAX, i64::MIN, -0.0_f64, Some("x"), None::<u8>);
    run_with(Config::threads(2), |world| {
        checkpoints.save(world, 0, &Contents::new().state(&state))?;
        let checkpoint = checkpoints.at(world, 0)?;
        type Found = (f64, f64, f32, u64, i64, f64, Option<String>, Option<u8>);
        let found: Found = checkpoint.state()?;
        assert_eq!((found.0, found.1.to_bits(), found.2, found.3), (f64::INFINITY, odd.to_bits(), 0.1, u64::MAX));
        assert_eq!((found.4, found.5.to_bits(), &*found.6.unwrap(), found.7), (i64::MIN, 1 << 63, "x", None));
        let error = checkpoint.state::<State>().unwrap_err().to_string();
        assert!(error.contains("none of the wanted type"), "{error}");
        Ok(())
    })
    .unwrap();
}

/// Larger blocks keep the checksums of large checkpoints within the manifest's limit.
#[test]
fn blocks_grow_with_the_data() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 2);
    let layout = Layout::new([12_000]).split_all(Split::Auto);
    run_with(Config::threads(3), |world| {
        let array = filled::<u32, 1>(world, "array", &layout)?;
        checkpoints.save(world, 1, &Contents::new().array(&array).state(&vec![7_u64; 100]))?;
        checkpoints.start(world, 2, &Contents::new().array(&array))?.wait()
    })
    .unwrap();
    for name in ["step-000000000001.000001", "step-000000000002.000002"] {
        let text = std::fs::read(directory.path().join(name).join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(manifest["block_bytes"], 512);
        assert_eq!(manifest["files"][2]["checksums"].as_array().unwrap().len(), 16_000_usize.div_ceil(512));
    }
    run_with(Config::threads(2), |world| {
        for step in [1, 2] {
            let checkpoint = checkpoints.at(world, step)?;
            holds(&checkpoint.array::<u32, 1>(world, "array", Layout::new)?)?;
        }
        assert_eq!(checkpoints.at(world, 1)?.state::<Vec<u64>>()?, [7; 100]);
        Ok(())
    })
    .unwrap();
}
