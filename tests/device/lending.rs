//! Leases of device memory to the host.

use zippy::device::{PackedBox, StridedBox};
use zippy::error::DeviceError;

use super::devices::devices;
use super::transfers::{chunk, contents};

/// An operation on a leased buffer returns an error instead of a panic of wgpu.
#[test]
fn buffer_that_is_lent_already_is_an_error() {
    for device in devices() {
        let [one, other] = [7, 9].map(|byte| chunk(&device, &[byte; 4096]));
        let piece = PackedBox { buffer: &one, view: StridedBox::dense(0, [1024].into()), payload_offset: 0 };
        let refused = |result: Result<(), DeviceError>| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("the host has a buffer already"), "{error}");
        };
        let lent = device.lend([&one], |[bytes]| {
            refused(device.lend([&one], |_| ()));
            refused(device.lend([&other, &one], |_| ()));
            refused(device.gather(4, &[piece], 4096).map(drop));
            refused(device.scatter(4, &[0; 4096], &[piece]));
            device.lend([&other], |[bytes]| bytes[0] = 1).unwrap();
            bytes[1] = 2;
        });
        assert_eq!(lent.is_ok(), device.host_mapped());
        if device.host_mapped() {
            let found = [&one, &other].map(|buffer| contents(&device, buffer)[..3].to_vec());
            assert_eq!(found, [[7, 2, 7], [1, 9, 9]]);
            device.lend([&one, &other], |_| ()).unwrap();
        }
    }
}
