package io.carillon.embedded;

import io.carillon.embedded.internal.datadir.ClusterFiles;
import io.carillon.embedded.internal.datadir.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;

/**
 * Prepares the data directory before the server starts: creates it, or recognizes an existing one. The password file is
 * moved into place last, so that an interrupted creation is detected and repeated.
 */
final class Cluster {
    static final String USER = "carillon";
    private static final Duration CREATION_TIMEOUT = Duration.ofMinutes(2);

    private final ClusterFiles files;
    private final Binaries binaries;
    private final RunAs runAs;

    Cluster(ClusterFiles files, Binaries binaries, RunAs runAs) {
        this.files = files;
        this.binaries = binaries;
        this.runAs = runAs;
    }

    /** Creates or checks the data directory, and returns the password of {@link #USER}. */
    String prepare(boolean durable, Consumer<String> progress) throws IOException {
        boolean filled = Files.isDirectory(files.data()) && !DirectoryTrees.isEmpty(files.data());
        if (filled) requireSameMajor();
        if (filled && !isIncomplete()) {
            requirePassword();
            runAs.takeOwnership(files.data());
            return readPassword();
        }
        progress.accept("creating the database cluster");
        return create(durable);
    }

    /**
     * Returns whether an earlier creation was interrupted. A server that has run on this data has left its options
     * file: such data is never treated as incomplete and never deleted.
     */
    private boolean isIncomplete() {
        return Files.exists(files.passwordDraft()) && !Files.exists(files.data().resolve("postmaster.opts"));
    }

    private String create(boolean durable) throws IOException {
        requireReachable();
        // An existing password is kept: the directory may be empty only because its disk is not mounted.
        String password = Files.exists(files.password()) ? readPassword() : newPassword();
        writePrivateFile(files.passwordDraft(), password);
        if (durable) sync(files.parent());
        if (Files.isDirectory(files.data())) DirectoryTrees.removeContents(files.data());
        else Files.createDirectory(files.data());
        DirectoryTrees.setPermissions(files.data(), "rwx------");
        runAs.takeOwnership(files.data());
        runAs.takeOwnership(files.passwordDraft());
        // Each creation uses its own directory: an initdb process that outlived its owner must not write into this one.
        Path stagingDirectory =
                files.data().resolve("creating-" + ProcessHandle.current().pid());
        initdb(stagingDirectory, durable);
        DirectoryTrees.moveContents(stagingDirectory, files.data());
        if (durable) sync(files.data());
        Files.move(files.passwordDraft(), files.password(), StandardCopyOption.ATOMIC_MOVE);
        if (durable) sync(files.parent());
        return password;
    }

    private String readPassword() throws IOException {
        return Files.readString(files.password()).strip();
    }

    private void initdb(Path stagingDirectory, boolean durable) throws IOException {
        LogFile log = new LogFile(files.log());
        long mark = log.length();
        List<String> command = new ArrayList<>(runAs.command(binaries.program("initdb")));
        // The builtin provider sorts identically on every machine, independent of the installed locales.
        command.addAll(
                List.of("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"));
        command.addAll(List.of("--auth=scram-sha-256", "--pwfile=" + files.passwordDraft(), "--username=" + USER));
        command.addAll(List.of("--no-instructions", "--pgdata=" + stagingDirectory));
        if (!durable) command.add("--no-sync");
        int exit =
                Commands.run(Commands.prepare(command, binaries.home()).redirectOutput(log.append()), CREATION_TIMEOUT);
        if (exit != 0)
            throw new EmbeddedPostgresException(
                    "PostgreSQL could not create the data directory %s (initdb exited with code %d). %s"
                            .formatted(files.data(), exit, log.lastLinesSince(mark)));
    }

    private void requireSameMajor() throws IOException {
        Path file = files.data().resolve("PG_VERSION");
        String found = Files.exists(file) ? Files.readString(file).strip() : binaries.major();
        if (!found.equals(binaries.major()))
            throw new EmbeddedPostgresException(
                    ("The data in %s was written by PostgreSQL %s, which PostgreSQL %s cannot read. Nothing was"
                                    + " changed. Start it with the Carillon release that contains PostgreSQL %s and"
                                    + " export"
                                    + " the data there, or choose another directory to start with an empty database.")
                            .formatted(files.data(), found, binaries.version(), found));
    }

    private void requirePassword() {
        if (!Files.exists(files.password()))
            throw new EmbeddedPostgresException(
                    ("%s is not empty, but %s does not contain the password of its cluster. Restore that file, or"
                                    + " choose an empty directory.")
                            .formatted(files.data(), files.password()));
    }

    private void requireReachable() {
        if (!runAs.canEnter(files.parent()))
            throw new EmbeddedPostgresException(
                    ("PostgreSQL must run as user %d here, but that user cannot access %s. Choose a directory that"
                                    + " every user can access, or do not run as root.")
                            .formatted(runAs.user(), files.parent()));
    }

    private static String newPassword() {
        byte[] random = new byte[24];
        new SecureRandom().nextBytes(random);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    }

    private static void writePrivateFile(Path file, String text) throws IOException {
        Files.deleteIfExists(file);
        Files.createFile(file);
        DirectoryTrees.setPermissions(file, "rw-------");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap((text + "\n").getBytes(StandardCharsets.US_ASCII)));
            channel.force(true);
        }
    }

    private static void sync(Path directory) throws IOException {
        if (Platform.WINDOWS) return;
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
