package io.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.cli.shell.SecretFiles;
import io.carillon.spi.Keyring;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The settings that protect a server: files with secrets, the addresses of issuers, and the limits of keys. */
class AccessSettingsTest {
    private static final String URL = "postgres://me:s3cret@db.example:5433/shop";
    private static final Map<String, String> DATABASE = Map.of("DATABASE_URL", URL);

    @TempDir
    Path folder;

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void a_file_with_a_secret_that_others_can_access_is_refused() throws Exception {
        Path keys = privateFile("keys", Keyring.newKey("k"));
        Path secret = privateFile("jwt", "a secret of more than thirty-two bytes");
        Path url = privateFile("url", URL);
        for (String open : List.of("rw-r-----", "rw----r--", "rw--w----", "rw-----w-")) {
            for (Path file : List.of(keys, secret, url))
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(open));
            for (CommandResult refused : List.of(
                    print(DATABASE, "--master-keys-file", keys.toString()),
                    print(DATABASE, "--jwt-issuer", "me", "--jwt-secret-file", secret.toString()),
                    print(Map.of("DATABASE_URL_FILE", url.toString())))) {
                assertThat(refused.exitCode()).as(refused.err()).isEqualTo(2);
                assertThat(refused.err())
                        .contains("other users can access it", "chmod 600")
                        .doesNotContain("pass of");
            }
        }
        for (Path file : List.of(keys, secret, url))
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--------"));
        assertThat(print(DATABASE, "--master-keys-file", keys.toString()).exitCode())
                .isZero();
        assertThat(print(Map.of("DATABASE_URL_FILE", url.toString())).exitCode())
                .isZero();
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void a_configuration_file_that_others_can_access_contains_no_secret() throws Exception {
        Path file = privateFile("carillon.conf", "database.url = " + URL + "\n");
        assertThat(print(Map.of(), "--config", file.toString()).exitCode()).isZero();

        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        CommandResult refused = print(Map.of(), "--config", file.toString());
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).contains("the secret database.url").doesNotContain("pass of");

        Files.writeString(file, "database.url = postgres://me@db.example/shop\n");
        assertThat(print(Map.of(), "--config", file.toString()).exitCode()).isZero();
    }

    @Test
    void the_keys_of_an_issuer_are_read_over_https_or_from_this_machine() {
        for (String refused : List.of("http://id.example/jwks.json", "http://192.0.2.1/jwks.json", "ftp://localhost/a"))
            assertThat(print(DATABASE, "--jwt-issuer", "me", "--jwt-jwks", refused))
                    .satisfies(result -> assertThat(result.exitCode()).isEqualTo(2))
                    .satisfies(result -> assertThat(result.err()).contains("https"));
        for (String accepted : List.of(
                "https://id.example/jwks.json",
                "http://127.0.0.1:9000/jwks.json",
                "http://localhost/jwks.json",
                "http://[::1]/jwks.json"))
            assertThat(print(DATABASE, "--jwt-issuer", "me", "--jwt-jwks", accepted)
                            .exitCode())
                    .as(accepted)
                    .isZero();
    }

    @Test
    void row_level_security_is_required_unless_the_operator_opts_out() {
        assertThat(print(DATABASE).out()).containsPattern("require-row-security +true +default");
        assertThat(print(DATABASE, "--require-row-security").out())
                .containsPattern("require-row-security +true +option");
        assertThat(print(DATABASE, "--require-row-security=false").out())
                .containsPattern("require-row-security +false +option");
        assertThat(print(DATABASE, "--require-row-security=no").exitCode()).isEqualTo(2);
    }

    @Test
    void the_longest_lifetime_of_keys_is_a_duration() {
        assertThat(print(DATABASE, "--max-key-lifetime", "90d").exitCode()).isZero();
        assertThat(print(DATABASE, "--max-key-lifetime", "59m").err()).contains("at least 1h", "(was '59m'");
    }

    private static CommandResult print(Map<String, String> environment, String... options) {
        String[] words = new String[options.length + 2];
        words[0] = "config";
        words[1] = "print";
        System.arraycopy(options, 0, words, 2, options.length);
        return CommandResult.runWith(environment, words);
    }

    private Path privateFile(String name, String text) {
        SecretFiles.write(folder.resolve(name), text + "\n");
        return folder.resolve(name);
    }

    @Test
    void an_identity_provider_needs_its_issuer_and_a_client_id() {
        assertThat(print(DATABASE, "--oidc-issuer", "https://id.example").err())
                .contains("oidc.issuer and oidc.client-id");
        assertThat(print(DATABASE, "--oidc-admin-claim", "groups=a").err()).contains("oidc.issuer and oidc.client-id");
        assertThat(print(DATABASE, "--oidc-issuer", "http://id.example", "--oidc-client-id", "c")
                        .err())
                .contains("oidc.issuer must be a URL such as https://id.example");
        assertThat(print(
                                DATABASE,
                                "--oidc-issuer",
                                "https://id.example",
                                "--oidc-client-id",
                                "c",
                                "--oidc-admin-claim",
                                "groups")
                        .err())
                .contains("oidc.admin-claim must be a claim and its value");
        assertThat(print(DATABASE, "--public-url", "carillon.example").err()).contains("public-url must be a URL");
        assertThat(print(DATABASE, "--read-only", "perhaps").err()).contains("read-only must be one of true, false");
    }

    @Test
    void the_secret_of_the_client_is_read_from_a_file_and_not_shown() {
        Path secret = folder.resolve("oidc.secret");
        SecretFiles.write(secret, "pass of the client\n");

        CommandResult shown = print(
                DATABASE,
                "--oidc-issuer",
                "https://id.example",
                "--oidc-client-id",
                "carillon",
                "--oidc-client-secret-file",
                secret.toString(),
                "--public-url",
                "https://carillon.example",
                "--read-only");

        assertThat(shown.exitCode()).as(shown.err()).isZero();
        assertThat(shown.out())
                .contains("https://id.example", "https://carillon.example", "(hidden)")
                .doesNotContain("pass of");
    }
}
