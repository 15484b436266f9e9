package io.carillon.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Files with secrets are written for their owner only, and no secret is overwritten by accident. */
@DisabledOnOs(OS.WINDOWS)
class SecretFilesTest {
    @TempDir
    Path folder;

    @Test
    void a_new_secret_is_readable_by_its_owner_only_and_replaces_no_other() throws Exception {
        Path file = folder.resolve("bootstrap.key");
        SecretFiles.writeNew(file, "first");

        assertThat(permissions(file)).isEqualTo("rw-------");
        assertThatThrownBy(() -> SecretFiles.writeNew(file, "second"))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("already exists");
        assertThat(file).hasContent("first");
        assertThat(SecretFiles.read("--key-file", file.toString())).isEqualTo("first");
    }

    @Test
    void a_new_directory_is_accessible_to_its_owner_only_and_an_existing_one_keeps_its_permissions() throws Exception {
        Path directory = folder.resolve("a/dev");
        SecretFiles.createDirectory(directory);
        assertThat(permissions(directory)).isEqualTo("rwx------");

        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        SecretFiles.createDirectory(directory);
        assertThat(permissions(directory)).isEqualTo("rwxr-xr-x");
        SecretFiles.restrictDirectory(directory);
        assertThat(permissions(directory)).isEqualTo("rwx------");
    }

    private static String permissions(Path path) throws Exception {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
