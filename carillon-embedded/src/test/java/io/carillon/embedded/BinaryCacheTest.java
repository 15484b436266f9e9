package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BinaryCacheTest {
    private static final Archive ARCHIVE = Archive.find(Platform.current());

    @TempDir
    Path directory;

    @Test
    void a_place_that_cannot_be_written_gives_way_to_the_temporary_directory() throws Exception {
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
    void programs_that_another_user_laid_out_in_the_temporary_directory_are_not_run() throws Exception {
        assumeTrue(RunAs.currentUser() == 0, "only root can give a directory away");
        CacheDirectories directories =
                new CacheDirectories(Map.of(), name -> name.equals("java.io.tmpdir") ? directory.toString() : "", "me");
        Path planted = Files.createDirectories(directories.shared().resolve(ARCHIVE.key()));
        Files.writeString(planted.resolve("version"), "18.6\n");
        Trees.give(directories.shared(), 65534, 65534);

        assertThatThrownBy(() -> new BinaryCache(ARCHIVE, directories, step -> {}).obtain(RunAs.direct()))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("it belongs to another user")
                .hasMessageContaining("Set CARILLON_HOME");
    }
}
