package io.carillon.embedded;

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
 * The data directory before a server runs on it: created, or recognised as one of ours. The password file moves into place last, so a
 * creation that was cut short is seen and done again.
 */
final class Cluster {
    static final String USER = "carillon";
    private static final Duration CREATION = Duration.ofMinutes(2);

    private final ClusterFiles files;
    private final Binaries binaries;
    private final RunAs runAs;

    Cluster(ClusterFiles files, Binaries binaries, RunAs runAs) {
        this.files = files;
        this.binaries = binaries;
        this.runAs = runAs;
    }

    /** Answers the password of {@link #USER}. */
    String prepare(boolean durably, Consumer<String> progress) throws IOException {
        boolean filled = Files.isDirectory(files.data()) && !Trees.isEmpty(files.data());
        if (filled) requireSameMajor();
        if (filled && !wasCutShort()) {
            requirePassword();
            runAs.take(files.data());
            return readPassword();
        }
        progress.accept("creating the database cluster");
        return create(durably);
    }

    /** A server that ever ran here left its options: such data is never taken for a half-made cluster, and never removed. */
    private boolean wasCutShort() {
        return Files.exists(files.passwordDraft()) && !Files.exists(files.data().resolve("postmaster.opts"));
    }

    private String create(boolean durably) throws IOException {
        requireReachable();
        // An old password stays: the directory may be empty only because its disk is not mounted.
        String password = Files.exists(files.password()) ? readPassword() : newPassword();
        writePrivately(files.passwordDraft(), password);
        if (durably) sync(files.parent());
        if (Files.isDirectory(files.data())) Trees.removeContents(files.data());
        else Files.createDirectory(files.data());
        Trees.permit(files.data(), "rwx------");
        runAs.take(files.data());
        runAs.take(files.passwordDraft());
        // Each creation has a room of its own: an initdb that outlived its owner must not write into ours.
        Path room = files.data().resolve("creating-" + ProcessHandle.current().pid());
        initdb(room, durably);
        Trees.moveContents(room, files.data());
        if (durably) sync(files.data());
        Files.move(files.passwordDraft(), files.password(), StandardCopyOption.ATOMIC_MOVE);
        if (durably) sync(files.parent());
        return password;
    }

    private String readPassword() throws IOException {
        return Files.readString(files.password()).strip();
    }

    private void initdb(Path room, boolean durably) throws IOException {
        LogFile log = new LogFile(files.log());
        long mark = log.length();
        List<String> command = new ArrayList<>(runAs.command(binaries.program("initdb")));
        // The builtin provider sorts the same on every machine, whatever locales that machine has.
        command.addAll(
                List.of("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"));
        command.addAll(List.of("--auth=scram-sha-256", "--pwfile=" + files.passwordDraft(), "--username=" + USER));
        command.addAll(List.of("--no-instructions", "--pgdata=" + room));
        if (!durably) command.add("--no-sync");
        int exit = Commands.run(Commands.prepare(command, binaries.home()).redirectOutput(log.append()), CREATION);
        if (exit != 0)
            throw new EmbeddedPostgresException(
                    "PostgreSQL could not create its data directory %s (initdb ended with %d). %s"
                            .formatted(files.data(), exit, log.lastLinesSince(mark)));
    }

    private void requireSameMajor() throws IOException {
        Path file = files.data().resolve("PG_VERSION");
        String found = Files.exists(file) ? Files.readString(file).strip() : binaries.major();
        if (!found.equals(binaries.major()))
            throw new EmbeddedPostgresException(
                    ("The data in %s was written by PostgreSQL %s, which PostgreSQL %s cannot read. Nothing was changed. "
                                    + "Start it with the release that brought PostgreSQL %s and export it there, or choose another directory to start empty.")
                            .formatted(files.data(), found, binaries.version(), found));
    }

    private void requirePassword() {
        if (!Files.exists(files.password()))
            throw new EmbeddedPostgresException(
                    "%s is not empty, but the password of its cluster is not in %s. Restore that file, or choose an empty directory."
                            .formatted(files.data(), files.password()));
    }

    private void requireReachable() {
        if (!runAs.canEnter(files.parent()))
            throw new EmbeddedPostgresException(
                    "PostgreSQL has to run as user %d here, who cannot enter %s. Choose a directory that every user can enter, or do not run as root."
                            .formatted(runAs.user(), files.parent()));
    }

    private static String newPassword() {
        byte[] random = new byte[24];
        new SecureRandom().nextBytes(random);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    }

    private static void writePrivately(Path file, String text) throws IOException {
        Files.deleteIfExists(file);
        Files.createFile(file);
        Trees.permit(file, "rw-------");
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
