package io.carillon.embedded;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server process: started until it answers, stopped until it is gone. One thread may act on it, any may look. */
final class Server {
    private static final Logger log = LoggerFactory.getLogger(Server.class);
    private static final int OTHER_PORTS = 20;
    // A killed server may linger as a zombie, and its children hold the shared memory until they notice.
    private static final Duration AFTER_A_KILL = Duration.ofSeconds(15);
    // Only a hang ends here: a server that fails ends by itself, and recovery of much data takes a while.
    private static final Duration READY = Duration.ofMinutes(5);
    private static final Duration STOP = Duration.ofSeconds(60);

    private final ServerPlan plan;
    private final Watchdog watchdog;
    private volatile int port;
    private volatile @Nullable Process process;

    Server(ServerPlan plan, Watchdog watchdog) {
        this.plan = plan;
        this.watchdog = watchdog;
    }

    /** What became of one launch. */
    private enum Fate {
        READY,
        PORT_TAKEN,
        PREDECESSOR_LINGERS,
        FAILED
    }

    int port() {
        return port;
    }

    long pid() {
        Process last = process;
        return last == null ? -1 : last.pid();
    }

    void startOn(int wished) throws IOException {
        port = wished;
        if (!start(Duration.ZERO)) throw portTaken();
    }

    /** Between the look at a port and the start on it somebody else may take it; then the next one is tried. */
    void startOnAny(IntSupplier ports) throws IOException {
        for (int i = 0; i < OTHER_PORTS; i++) {
            port = ports.getAsInt();
            if (start(Duration.ZERO)) return;
        }
        throw portTaken();
    }

    /** Starts on the port of before: that is where the clients will look. */
    void startAgain() throws IOException {
        if (!start(AFTER_A_KILL)) throw portTaken();
    }

    private boolean start(Duration patienceForPort) throws IOException {
        long begin = System.nanoTime();
        while (true) {
            new Leftover(plan).clear();
            long mark = plan.log().length();
            Fate fate = launch(mark);
            if (fate == Fate.READY) return true;
            Duration patience = fate == Fate.PORT_TAKEN ? patienceForPort : AFTER_A_KILL;
            boolean again = fate != Fate.FAILED && System.nanoTime() - begin < patience.toNanos();
            if (!again && fate == Fate.PORT_TAKEN) return false;
            if (!again) throw failed("ended before it was ready", mark);
            Pauses.pause(Duration.ofMillis(200));
        }
    }

    private Fate launch(long mark) throws IOException {
        Process launched = plan.launch(port);
        process = launched;
        watchdog.watch(launched);
        boolean ready = false;
        try {
            Fate fate = awaitReady(launched, mark);
            if (fate != Fate.READY) return fate;
            plan.greeting().meet(port);
            ready = true;
            log.info(
                    "postgres started version={} port={} pid={} data={}",
                    plan.binaries().version(),
                    port,
                    launched.pid(),
                    plan.files().data());
            return fate;
        } catch (SQLException e) {
            throw new EmbeddedPostgresException(
                    "PostgreSQL started on port %d, but did not let us in: %s. Is %s the password of this cluster? %s"
                            .formatted(
                                    port,
                                    e.getMessage(),
                                    plan.files().password(),
                                    plan.log().lastLinesSince(mark)),
                    e);
        } finally {
            if (!ready) kill();
        }
    }

    private Fate awaitReady(Process launched, long mark) throws IOException {
        long deadline = System.nanoTime() + READY.toNanos();
        while (launched.isAlive()) {
            boolean ready = PostmasterFile.read(plan.files().data())
                    .filter(file -> file.ready() && file.pid() == launched.pid())
                    .isPresent();
            if (ready) return Fate.READY;
            if (System.nanoTime() - deadline > 0) throw failed("was not ready after " + READY, mark);
            Pauses.pause(Duration.ofMillis(10));
        }
        return judge(plan.log().since(mark));
    }

    private static Fate judge(String said) {
        if (said.contains("could not create any TCP/IP sockets") && !said.contains("Permission denied"))
            return Fate.PORT_TAKEN;
        if (said.contains("lock file \"postmaster.pid\" already exists") || said.contains("shared memory block"))
            return Fate.PREDECESSOR_LINGERS;
        return Fate.FAILED;
    }

    /** Stops in that mode of {@code pg_ctl}; if that takes too long, or the thread is interrupted, the server is killed. */
    void stop(String mode) throws IOException {
        Process running = process;
        if (running == null || !running.isAlive()) return;
        boolean stopped = false;
        try {
            plan.signal(mode);
            stopped = running.waitFor(STOP.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw EmbeddedPostgresException.interrupted("stopping PostgreSQL", e);
        } finally {
            if (!stopped) kill();
        }
    }

    /** The end that a power cut would bring: nobody of the family gets to say a word. */
    void kill() {
        Process running = process;
        if (running == null || !running.isAlive()) return;
        List<ProcessHandle> family = running.descendants().toList();
        running.destroyForcibly();
        family.forEach(ProcessHandle::destroyForcibly);
        long deadline = System.nanoTime() + AFTER_A_KILL.toNanos();
        while (running.isAlive() || family.stream().anyMatch(child -> Proc.runs(child.pid()))) {
            if (System.nanoTime() - deadline > 0)
                throw new EmbeddedPostgresException(
                        "PostgreSQL (process %d) survives kill -9.".formatted(running.pid()));
            Pauses.pauseRegardless(Duration.ofMillis(5));
        }
    }

    private EmbeddedPostgresException portTaken() {
        return new EmbeddedPostgresException(
                "Port %d on 127.0.0.1 is taken by another program. Stop that one, name another port, or name none to get a free one."
                        .formatted(port));
    }

    private EmbeddedPostgresException failed(String how, long mark) throws IOException {
        return new EmbeddedPostgresException("PostgreSQL on %s %s. %s"
                .formatted(plan.files().data(), how, plan.log().lastLinesSince(mark)));
    }
}
