//! Leases of device memory to the host.

use zippy::device::{PackedBox, StridedBox};
use zippy::error::DeviceError;

use super::devices::devices;
use super::transfers::{chunk, contents};

/// An operation on a leased buffer returns an error instead of a panic of wgpu.
#[test]
fn access_to_lent_buffer_is_error() {
    for device in devices() {
        let [one, other] = [7, 9].map(|byte| chunk(&device, &[byte; 4096]));
        let piece = PackedBox { buffer: &one, view: StridedBox::dense(0, [1024].into()), payload_offset: 0 };
        let assert_refused = |result: Result<(), DeviceError>| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("a buffer is lent to the host"), "{error}");
        };
        let lent = device.lend([&one], |[bytes]| {
            assert_refused(device.lend([&one], |_| ()));
            assert_refused(device.lend([&other, &one], |_| ()));
            assert_refused(device.gather(4, &[piece], 4096).map(drop));
            assert_refused(device.scatter(4, &[0; 4096], &[piece]));
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
