//! A virtual X server with screenshots and input events.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ClientMessageEvent, ConnectionExt, EventMask, ImageFormat,
    MOTION_NOTIFY_EVENT, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use crate::running::wait;

/// Virtual X server that ends on drop.
pub struct Screen {
    server: Child,
    /// Value of `DISPLAY` for programs.
    pub display: String,
    connection: RustConnection,
    root: Window,
    size: (u16, u16),
}

/// Screenshot of a part of the screen: rows of red, green and blue.
#[derive(Clone, PartialEq)]
pub struct Shot {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<[u8; 3]>,
}

impl Shot {
    /// Number of pixels that differ from a screenshot of the same size.
    pub fn differing(&self, other: &Self) -> usize {
        assert_eq!((self.width, self.height), (other.width, other.height));
        self.pixels.iter().zip(&other.pixels).filter(|(a, b)| a != b).count()
    }

    /// Number of pixels that are not of this colour.
    pub fn unlike(&self, colour: [u8; 3]) -> usize {
        self.pixels.iter().filter(|pixel| **pixel != colour).count()
    }
}

impl Screen {
    pub fn start(width: u16, height: u16) -> Self {
        let mut command = Command::new("Xvfb");
        command.args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            &format!("{width}x{height}x24"),
            "-nolisten",
            "tcp",
            "-noreset",
        ]);
        let server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut server = server.expect("Xvfb starts; `cargo xtask test` installs it");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let (connection, screen) = x11rb::connect(Some(&display)).expect("the server has said that it is ready");
        let root = connection.setup().roots[screen].root;
        Self { server, display, connection, root, size: (width, height) }
    }

    pub fn window(&self, title: &str) -> Option<Window> {
        let atom = |name: &[u8]| self.connection.intern_atom(false, name).unwrap().reply().unwrap().atom;
        let (name, text) = (atom(b"_NET_WM_NAME"), atom(b"UTF8_STRING"));
        let children = self.connection.query_tree(self.root).unwrap().reply().unwrap().children;
        children.into_iter().find(|&window| {
            let found = self.connection.get_property(false, window, name, text, 0, 1024).unwrap().reply();
            found.is_ok_and(|property| property.value == title.as_bytes())
        })
    }

    /// Screenshot of a rectangle whose upper left corner is `(x, y)`.
    pub fn shot(&self, (x, y): (i16, i16), (width, height): (u16, u16)) -> Shot {
        let image = self.connection.get_image(ImageFormat::Z_PIXMAP, self.root, x, y, width, height, !0);
        let image = image.unwrap().reply().unwrap();
        let pixels = image.data.chunks_exact(4).map(|bgrx| [bgrx[2], bgrx[1], bgrx[0]]).collect();
        Shot { width: width.into(), height: height.into(), pixels }
    }

    pub fn all(&self) -> Shot {
        self.shot((0, 0), self.size)
    }

    /// Writes a screenshot next to the file in `ZIPPY_SCREENSHOT`, if this variable is set. `name`
    /// precedes the suffix `ppm`.
    pub fn save(&self, name: &str) {
        let Some(path) = std::env::var_os("ZIPPY_SCREENSHOT") else { return };
        let shot = self.all();
        let text = format!("P6 {} {} 255\n", shot.width, shot.height);
        let path = std::path::PathBuf::from(path).with_extension(format!("{name}.ppm"));
        std::fs::write(path, [text.as_bytes(), shot.pixels.as_flattened()].concat()).unwrap();
    }

    /// Waits for a screenshot that fulfils `wanted` and has not changed for 20 polls.
    pub fn settled(&self, description: &str, mut take: impl FnMut() -> Shot, wanted: impl Fn(&Shot) -> bool) -> Shot {
        let (mut last, mut times) = (take(), 0);
        wait(description, || {
            let next = take();
            times = if next == last { times + 1 } else { 0 };
            last = next;
            (times >= 20 && wanted(&last)).then(|| last.clone())
        })
    }

    pub fn point(&self, (x, y): (i16, i16)) {
        self.fake(MOTION_NOTIFY_EVENT, 0, (x, y));
    }

    pub fn press(&self, at: (i16, i16)) {
        self.point(at);
        self.fake(BUTTON_PRESS_EVENT, 1, at);
    }

    pub fn release(&self, at: (i16, i16)) {
        self.fake(BUTTON_RELEASE_EVENT, 1, at);
    }

    pub fn click(&self, at: (i16, i16)) {
        self.press(at);
        self.release(at);
    }

    fn fake(&self, kind: u8, detail: u8, (x, y): (i16, i16)) {
        self.connection.xtest_fake_input(kind, detail, 0, self.root, x, y, 0).unwrap().check().unwrap();
    }

    /// Sends a window the message to close, as a window manager does.
    pub fn close(&self, window: Window) {
        let atom = |name: &[u8]| self.connection.intern_atom(false, name).unwrap().reply().unwrap().atom;
        let (protocols, delete) = (atom(b"WM_PROTOCOLS"), atom(b"WM_DELETE_WINDOW"));
        let message = ClientMessageEvent::new(32, window, protocols, [delete, x11rb::CURRENT_TIME, 0, 0, 0]);
        self.connection.send_event(false, window, EventMask::NO_EVENT, message).unwrap().check().unwrap();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
