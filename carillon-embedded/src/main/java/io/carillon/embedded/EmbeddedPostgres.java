package io.carillon.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server of this process alone: unpacked from the class path, listening on loopback, behind a generated password, with a database
 * {@code carillon}. It stops with this process, however that ends; kept data stays intact.
 */
public final class EmbeddedPostgres implements AutoCloseable {
    private final ServerPlan plan;
    private final Server server;
    private final Surroundings surroundings;
    private boolean closed;

    private EmbeddedPostgres(ServerPlan plan, Server server, Surroundings surroundings) {
        this.plan = plan;
        this.server = server;
        this.surroundings = surroundings;
    }

    /**
     * A server on data that is kept, created at the first start. Password and log lie beside the directory under its name; while this process
     * lives no other gets the directory.
     */
    public static Builder in(Path dataDirectory) {
        return new Builder(dataDirectory);
    }

    /** A server for tests: quick, not durable, on a temporary directory that is removed at the end. */
    public static Builder temporary() {
        return new Builder(null);
    }

    /** The address of the database {@code carillon}; {@link #user()} and {@link #password()} are not part of it. */
    public String jdbcUrl() {
        return jdbcUrl(Greeting.DATABASE);
    }

    /** The address of another database on this server, whatever characters its name has. */
    public String jdbcUrl(String database) {
        String name = URLEncoder.encode(database, StandardCharsets.UTF_8).replace("+", "%20");
        return "jdbc:postgresql://127.0.0.1:" + port() + "/" + name;
    }

    /** A superuser. */
    public String user() {
        return Cluster.USER;
    }

    public String password() {
        return plan.password();
    }

    public int port() {
        return server.port();
    }

    /** The process id of the postmaster. */
    public long pid() {
        return server.pid();
    }

    public Path dataDirectory() {
        return plan.files().data();
    }

    /** Stops the server in order, if it runs, and starts it on the same port. */
    public synchronized void restart() {
        restart("fast");
    }

    /** Stops the server without a checkpoint, as after a crash, and starts it on the same port: it recovers from its log. */
    public synchronized void restartImmediately() {
        restart("immediate");
    }

    private void restart(String mode) {
        if (closed)
            throw new IllegalStateException(
                    "This PostgreSQL on %s was closed. Start a new one.".formatted(dataDirectory()));
        try {
            server.stop(mode);
            server.startAgain();
        } catch (IOException e) {
            throw new EmbeddedPostgresException(
                    "PostgreSQL could not be restarted on %s: %s.".formatted(dataDirectory(), e), e);
        }
    }

    /** Kills the postmaster and its children with {@code kill -9}, for tests of faults; {@link #restart()} brings the server back. */
    public synchronized void kill() {
        server.kill();
    }

    /** Stops the server; a second call does nothing. */
    @Override
    public synchronized void close() {
        if (closed) return;
        closed = true;
        // An interrupted thread, too, must be able to leave nothing behind.
        boolean interrupted = Thread.interrupted();
        try (surroundings) {
            server.stop(surroundings.isTemporary() ? "immediate" : "fast");
        } catch (IOException e) {
            throw new EmbeddedPostgresException(
                    "PostgreSQL could not be stopped on %s: %s.".formatted(dataDirectory(), e), e);
        } finally {
            if (interrupted) Thread.currentThread().interrupt();
        }
    }

    /** Collects the wishes for a server; {@link #start()} fulfils them. */
    public static final class Builder {
        private final @Nullable Path kept;
        private final Settings settings;
        private @Nullable CacheDirectories cache;
        private @Nullable RunAs runAs;
        private IntSupplier ports = Ports::free;
        private Consumer<String> progress = step -> {};
        private int port;
        private boolean stopAtExit = true;

        private Builder(@Nullable Path kept) {
            this.kept = kept;
            this.settings = new Settings(kept != null);
        }

        /** A setting of {@code postgresql.conf}; it wins over the defaults of this class. */
        public Builder setting(String name, String value) {
            settings.set(name, value);
            return this;
        }

        /** The port on 127.0.0.1; without it, or with 0, any free one. */
        public Builder port(int port) {
            if (port < 0 || port > 65_535)
                throw new IllegalArgumentException("port %d is outside 0..65535".formatted(port));
            this.port = port;
            return this;
        }

        /** Hears what a start is about to do, in a few words, before each step that takes time. */
        public Builder progress(Consumer<String> progress) {
            this.progress = progress;
            return this;
        }

        /**
         * Whether the server stops as soon as the JVM begins to exit (the default). An application that closes it in an order of its own, after it
         * let go of its connections, says no; should it not come to that, the server stops right after the JVM is gone.
         */
        public Builder stopAtExit(boolean stopAtExit) {
            this.stopAtExit = stopAtExit;
            return this;
        }

        Builder cache(CacheDirectories cache) {
            this.cache = cache;
            return this;
        }

        Builder ports(IntSupplier ports) {
            this.ports = ports;
            return this;
        }

        Builder runAs(RunAs runAs) {
            this.runAs = runAs;
            return this;
        }

        /** Starts the server and returns when it answers on its own data. */
        public EmbeddedPostgres start() {
            try {
                Surroundings surroundings = kept == null ? Surroundings.temporary() : Surroundings.kept(kept);
                EmbeddedPostgres started = null;
                try {
                    started = start(surroundings);
                    return started;
                } finally {
                    if (started == null) surroundings.close();
                }
            } catch (IOException | UncheckedIOException e) {
                throw new EmbeddedPostgresException(
                        "PostgreSQL could not be started on %s: %s."
                                .formatted(kept == null ? "a temporary directory" : kept, e),
                        e);
            }
        }

        private EmbeddedPostgres start(Surroundings surroundings) throws IOException {
            ClusterFiles files = surroundings.files();
            new LogFile(files.log()).rotate();
            RunAs user = runAs == null ? RunAs.choose(files.data()) : runAs;
            surroundings.admit(user);
            CacheDirectories places = cache == null ? CacheDirectories.here() : cache;
            Binaries binaries = new BinaryCache(Archive.find(Platform.current()), places, progress).obtain(user);
            String password = new Cluster(files, binaries, user).prepare(!surroundings.isTemporary(), progress);
            ServerPlan plan = new ServerPlan(files, binaries, user, settings.arguments(), password);
            Server server = new Server(plan, surroundings.watchdog());
            progress.accept("starting");
            if (port == 0) server.startOnAny(ports);
            else server.startOn(port);
            EmbeddedPostgres postgres = new EmbeddedPostgres(plan, server, surroundings);
            if (stopAtExit) surroundings.atExit(postgres::close);
            return postgres;
        }
    }
}
