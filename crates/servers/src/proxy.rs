//! A wire between a client and a server that can be made to fail.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// A TCP proxy on a free port of this machine: passes bytes on until it is told otherwise. Ends when it is dropped.
///
/// ```
/// use std::net::{TcpListener, TcpStream};
/// use counterfoil_servers::{Proxy, Weather};
///
/// let server = TcpListener::bind("127.0.0.1:0")?;
/// let proxy = Proxy::start(server.local_addr()?.port())?;
/// proxy.set(Weather::RepliesLost);
/// let client = TcpStream::connect(("127.0.0.1", proxy.port()))?;
/// # drop(client);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    wire: Arc<Wire>,
}

/// What happens to the bytes, on connections that stand as on new ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weather {
    /// They pass.
    Clear,
    /// Requests arrive, and the connection is cut by the first byte of a reply: surely applied, and nobody told.
    RepliesLost,
    /// The connection is cut by the first byte of a request, which never arrives: surely not applied.
    RequestsLost,
    /// Requests arrive, and nothing comes back, for as long as this lasts; the connection stays open. What came back
    /// meanwhile is thrown away.
    RepliesSwallowed,
    /// Nothing arrives and nothing comes back, and the connection stays open.
    Frozen,
    /// Each piece of a reply comes so much later.
    Slow(Duration),
}

#[derive(Debug)]
struct Wire {
    upstream: SocketAddr,
    weather: Mutex<Weather>,
    injected: Mutex<Vec<u8>>,
    connections: Mutex<Vec<TcpStream>>,
    accepted: AtomicUsize,
    ended: AtomicBool,
}

/// How long a thread waits before it looks at the weather again.
const TICK: Duration = Duration::from_millis(5);

impl Proxy {
    /// Listens on a free port, and passes on to `upstream` on this machine.
    ///
    /// # Errors
    ///
    /// No port is free.
    pub fn start(upstream: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let wire = Arc::new(Wire {
            upstream: (Ipv4Addr::LOCALHOST, upstream).into(),
            weather: Mutex::new(Weather::Clear),
            injected: Mutex::default(),
            connections: Mutex::default(),
            accepted: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&wire);
        thread::spawn(move || accepting.accept(&listener));
        Ok(Self { port, wire })
    }

    /// Where clients connect.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Changes the weather.
    pub fn set(&self, weather: Weather) {
        *lock(&self.wire.weather) = weather;
    }

    /// Sends these bytes to a client in front of the next reply that passes, as a server that is out of step would.
    pub fn inject(&self, bytes: &[u8]) {
        lock(&self.wire.injected).extend_from_slice(bytes);
    }

    /// Cuts every connection. New ones are taken.
    pub fn cut(&self) {
        for connection in lock(&self.wire.connections).drain(..) {
            // It may have ended by itself.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    /// How many connections were taken so far.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.wire.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.wire.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts; where that fails it has ended.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        self.cut();
    }
}

impl Wire {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for client in listener.incoming() {
            if self.ended.load(Ordering::SeqCst) {
                return;
            }
            self.accepted.fetch_add(1, Ordering::SeqCst);
            // A connection that can't be made is one that the client sees cut.
            let _ = client.and_then(|client| self.connect(client));
        }
    }

    fn connect(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        let server = TcpStream::connect(self.upstream)?;
        for end in [&client, &server] {
            end.set_nodelay(true)?;
            end.set_read_timeout(Some(TICK))?;
            lock(&self.connections).push(end.try_clone()?);
        }
        let (to_server, from_client) = (server.try_clone()?, client.try_clone()?);
        let requests = Arc::clone(self);
        thread::spawn(move || requests.pass(from_client, to_server, Direction::Request));
        let replies = Arc::clone(self);
        thread::spawn(move || replies.pass(server, client, Direction::Reply));
        Ok(())
    }

    fn pass(&self, mut from: TcpStream, mut to: TcpStream, direction: Direction) {
        let mut buffer = [0; 16 * 1024];
        while !self.ended.load(Ordering::SeqCst) {
            if self.weather() == Weather::Frozen {
                thread::sleep(TICK);
                continue;
            }
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => match self.hand_on(&buffer[..read], &mut to, direction) {
                    Ok(true) => {}
                    Ok(false) | Err(_) => break,
                },
                Err(error) if is_a_pause(&error) => {}
                Err(_) => break,
            }
        }
        for end in [&from, &to] {
            // The other direction may have shut it down.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Whether the connection stands afterwards.
    fn hand_on(&self, bytes: &[u8], to: &mut TcpStream, direction: Direction) -> io::Result<bool> {
        // What was read before it froze waits until it thaws.
        while self.weather() == Weather::Frozen && !self.ended.load(Ordering::SeqCst) {
            thread::sleep(TICK);
        }
        match (self.weather(), direction) {
            (Weather::RepliesLost, Direction::Reply)
            | (Weather::RequestsLost, Direction::Request) => return Ok(false),
            (Weather::RepliesSwallowed, Direction::Reply) => return Ok(true),
            (Weather::Slow(by), Direction::Reply) => thread::sleep(by),
            _ => {}
        }
        if direction == Direction::Reply {
            let injected = std::mem::take(&mut *lock(&self.injected));
            to.write_all(&injected)?;
        }
        to.write_all(bytes)?;
        Ok(true)
    }

    fn weather(&self) -> Weather {
        *lock(&self.weather)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Request,
    Reply,
}

fn is_a_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
