package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BinaryCacheTest {
    private static final String UNPACKING = "unpacking PostgreSQL 18.6";
    private static final Archive ARCHIVE = Archive.find(Platform.current());

    @TempDir
    Path directory;

    /** Two processes and two threads of a third, with a cache that a killed process left incomplete. */
    @Test
    void concurrent_starts_unpack_once() throws Exception {
        Path cache = Files.createDirectories(directory.resolve("cache"));
        String key = ARCHIVE.key();
        Files.createDirectories(cache.resolve(key + ".unpacking/bin/postgres"));
        Files.createDirectories(cache.resolve(key).resolve("bin"));
        ConcurrentLinkedQueue<String> steps = new ConcurrentLinkedQueue<>();
        Map<String, String> environment = Map.of("CARILLON_HOME", directory.toString());
        CacheDirectories directories = new CacheDirectories(environment, name -> directory.toString(), "me");

        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (OwnerProcess first = OwnerProcess.launch(environment);
                OwnerProcess second = OwnerProcess.launch(environment)) {
            List<Future<Binaries>> unpacked = List.of(
                    threads.submit(() -> new BinaryCache(ARCHIVE, directories, steps::add).obtain(RunAs.direct())),
                    threads.submit(() -> new BinaryCache(ARCHIVE, directories, steps::add).obtain(RunAs.direct())));
            first.awaitReady();
            second.awaitReady();

            assertThat(unpacked.get(0).get()).isEqualTo(new Binaries(cache.resolve(key), "18.6"));
            assertThat(unpacked.get(1).get()).isEqualTo(unpacked.get(0).get());
            if (first.hasPrinted(UNPACKING)) steps.add(UNPACKING);
            if (second.hasPrinted(UNPACKING)) steps.add(UNPACKING);
            assertThat(steps).containsExactly(UNPACKING);
            assertThat(first.server().isAlive()).isTrue();
            assertThat(second.server().isAlive()).isTrue();
        } finally {
            threads.shutdownNow();
        }
        assertThat(cache.resolve(key + ".unpacking")).doesNotExist();
        assertThat(cache.resolve(key).resolve("bin/postgres")).isExecutable();
        assertThat(cache.resolve(key).resolve("lib/libpq.so")).isSymbolicLink();
    }

    @Test
    void falls_back_to_the_temporary_directory_when_the_cache_is_not_writable() throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "in the way");
        CacheDirectories directories = new CacheDirectories(
                Map.of("CARILLON_HOME", file.toString()),
                name -> name.equals("java.io.tmpdir") ? directory.toString() : "",
                "me");
        Path ready = Files.createDirectories(directories.shared().resolve(ARCHIVE.key()));
        Files.writeString(ready.resolve("version"), "18.6\n");

        Binaries binaries = new BinaryCache(ARCHIVE, directories, step -> {}).obtain(RunAs.direct());

        assertThat(binaries.home()).isEqualTo(ready);
    }

    @Test
    void programs_of_another_user_in_the_temporary_directory_are_not_run() throws Exception {
        assumeTrue(RunAs.currentUser() == 0, "only root can give a directory away");
        CacheDirectories directories =
                new CacheDirectories(Map.of(), name -> name.equals("java.io.tmpdir") ? directory.toString() : "", "me");
        Path planted = Files.createDirectories(directories.shared().resolve(ARCHIVE.key()));
        Files.writeString(planted.resolve("version"), "18.6\n");
        DirectoryTrees.changeOwner(directories.shared(), 65534, 65534);

        assertThatThrownBy(() -> new BinaryCache(ARCHIVE, directories, step -> {}).obtain(RunAs.direct()))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("it is owned by another user")
                .hasMessageContaining("Set CARILLON_HOME");
    }
}
