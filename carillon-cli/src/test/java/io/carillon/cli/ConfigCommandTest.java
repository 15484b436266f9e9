package io.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.cli.shell.SecretFiles;
import io.carillon.spi.Keyring;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Settings come from options, the environment and a file, in this order. Invalid values are reported with their source.
 */
class ConfigCommandTest {
    private static final String URL = "postgres://me:s3cret@db.example:5433/shop";

    @TempDir
    Path folder;

    private String file(String text) throws Exception {
        return privateFile("carillon.conf", text).toString();
    }

    private Path privateFile(String name, String text) {
        SecretFiles.write(folder.resolve(name), text);
        return folder.resolve(name);
    }

    @Test
    void an_option_overrides_a_variable_and_a_variable_overrides_the_file() throws Exception {
        String file =
                file("# mine\nrole = engine\nlisten = 0.0.0.0:1\nshutdown-timeout=5s\ndatabase.url = " + URL + "\n");
        Map<String, String> environment = Map.of("CARILLON_LISTEN", "0.0.0.0:2", "CARILLON_SHUTDOWN_TIMEOUT", "6s");

        CommandResult shown =
                CommandResult.runWith(environment, "config", "print", "--config", file, "--shutdown-timeout", "7s");

        assertThat(shown.exitCode()).as(shown.err()).isZero();
        assertThat(shown.out().lines().map(line -> line.replaceAll(" {2,}", "|")))
                .contains("KEY|VALUE|FROM")
                .contains("role|engine|file " + file)
                .contains("listen|0.0.0.0:2|variable CARILLON_LISTEN")
                .contains("shutdown-timeout|7s|option --shutdown-timeout")
                .contains("log|text|default");
    }

    @Test
    void no_secret_is_shown() throws Exception {
        Path secret = privateFile("secret", URL + "\n");
        Map<String, String> plain = Map.of("DATABASE_URL", URL);
        Map<String, String> inFile = Map.of("DATABASE_URL_FILE", secret.toString());
        Map<String, String> libpq = Map.of(
                "PGHOST",
                "db.example",
                "PGPORT",
                "5433",
                "PGUSER",
                "m@e",
                "PGPASSWORD",
                "s3cret",
                "PGDATABASE",
                "shop");

        for (Map<String, String> environment : java.util.List.of(plain, inFile, libpq)) {
            CommandResult shown = CommandResult.runWith(environment, "config", "print", "-o", "yaml");

            assertThat(shown.exitCode()).as(shown.err()).isZero();
            assertThat(shown.out()).contains("db.example:5433/shop").doesNotContain("s3cret");
        }
        assertThat(CommandResult.runWith(inFile, "config", "print").out()).contains("variable DATABASE_URL_FILE");
        assertThat(CommandResult.runWith(libpq, "config", "print").out()).contains("variables PG*");
    }

    @Test
    void unknown_names_are_refused_with_the_nearest_name() throws Exception {
        CommandResult inFile = CommandResult.run("config", "print", "--config", file("rol = api\n"));
        CommandResult variable = CommandResult.runWith(Map.of("CARILLON_LISTN", "8080"), "config", "print");
        CommandResult flag = CommandResult.run("serve", "--listn", "8080");

        assertThat(inFile.exitCode()).isEqualTo(2);
        assertThat(inFile.err()).contains("carillon.conf:1: ", "'rol'. Did you mean 'role'?");
        assertThat(variable.exitCode()).isEqualTo(2);
        assertThat(variable.err()).contains("CARILLON_LISTN. Did you mean 'CARILLON_LISTEN'?");
        assertThat(flag.err()).contains("Did you mean '--listen'?");
    }

    @Test
    void master_keys_and_webhook_addresses_are_checked_and_no_key_is_shown() throws Exception {
        String line = Keyring.newKey("k");
        String file = privateFile("keys", line + "\n").toString();
        CommandResult fine = CommandResult.runWith(
                Map.of(
                        "DATABASE_URL",
                        URL,
                        "CARILLON_MASTER_KEYS",
                        line,
                        "CARILLON_WEBHOOK_ALLOW",
                        "a.example:9000, 10.0.0.0/8"),
                "config",
                "print");
        CommandResult both = CommandResult.runWith(
                Map.of("DATABASE_URL", URL, "CARILLON_MASTER_KEYS", line, "CARILLON_MASTER_KEYS_FILE", file), "serve");
        CommandResult odd =
                CommandResult.runWith(Map.of("DATABASE_URL", URL, "CARILLON_MASTER_KEYS", "k:c2hvcnQ="), "serve");
        CommandResult nowhere =
                CommandResult.runWith(Map.of("DATABASE_URL", URL), "serve", "--master-keys-file", file + "x");
        CommandResult everywhere =
                CommandResult.runWith(Map.of("DATABASE_URL", URL), "serve", "--webhook-allow", "everywhere");

        assertThat(fine.exitCode()).as(fine.err()).isZero();
        assertThat(fine.out()).contains("a.example:9000").doesNotContain(line.substring(2));
        for (CommandResult refused : java.util.List.of(both, odd, nowhere, everywhere)) {
            assertThat(refused.exitCode()).as(refused.err()).isEqualTo(2);
            assertThat(refused.err()).doesNotContain(line.substring(2), "c2hvcnQ=");
        }
        assertThat(both.err()).contains("Both CARILLON_MASTER_KEYS and CARILLON_MASTER_KEYS_FILE are set");
        assertThat(everywhere.err()).contains("Invalid entry \"everywhere\" of allowed addresses");
    }

    @Test
    void variables_of_kubernetes_services_and_of_the_test_kit_are_ignored() {
        Map<String, String> environment = Map.of(
                "CARILLON_SERVICE_HOST", "10.0.0.1",
                "CARILLON_PORT", "tcp://10.0.0.1:8080",
                "CARILLON_PORT_8080_TCP_ADDR", "10.0.0.1",
                "CARILLON_TEST_DATABASE_URL", "jdbc:postgresql://localhost/test",
                "DATABASE_URL", URL);

        assertThat(CommandResult.runWith(environment, "config", "print").exitCode())
                .isZero();
    }

    @Test
    void invalid_values_are_reported_with_their_source() throws Exception {
        Map<String, String> environment = Map.of("DATABASE_URL", URL, "CARILLON_ROLE", "boss");

        CommandResult role = CommandResult.runWith(environment, "config", "print");
        CommandResult pool = CommandResult.runWith(Map.of("DATABASE_URL", URL), "serve", "--engine-pool", "2");
        CommandResult both = CommandResult.runWith(Map.of("DATABASE_URL", URL, "DATABASE_URL_FILE", "x"), "serve");
        CommandResult twice = CommandResult.run("serve", "--config", file("log = json\nlog = text\n"));
        CommandResult nowhere = CommandResult.run("serve");

        assertThat(role.exitCode()).isEqualTo(2);
        assertThat(role.err())
                .contains("role must be one of api, engine, both (was 'boss' from variable CARILLON_ROLE)");
        assertThat(pool.err())
                .contains("engine-pool must be a number between 4 and 1000 (was '2' from option --engine-pool)");
        assertThat(both.err()).contains("Both DATABASE_URL and DATABASE_URL_FILE");
        assertThat(twice.err()).contains("carillon.conf:2: duplicate setting 'log'");
        assertThat(nowhere.exitCode()).isEqualTo(2);
        assertThat(nowhere.err()).contains("No database is configured", "PGHOST");
    }

    @Test
    void token_settings_come_from_options_variables_or_the_file_and_the_secret_is_hidden() throws Exception {
        String secret = "a secret of more than thirty-two bytes";
        Path kept = privateFile("jwt.secret", secret + "\n");
        String file =
                file("database.url = " + URL + "\njwt.issuer = https://id.example\njwt.secret = " + secret + "\n");
        Map<String, String> variables =
                Map.of("DATABASE_URL", URL, "CARILLON_JWT_ISSUER", "me", "CARILLON_JWT_SECRET_FILE", kept.toString());

        CommandResult inFile = CommandResult.run("config", "print", "--config", file);
        CommandResult byVariable = CommandResult.runWith(variables, "config", "print");
        CommandResult byFlag = CommandResult.runWith(
                Map.of("DATABASE_URL", URL),
                "config",
                "print",
                "--jwt-issuer",
                "me",
                "--jwt-audience",
                "us",
                "--jwt-secret-file",
                kept.toString());

        for (CommandResult shown : java.util.List.of(inFile, byVariable, byFlag)) {
            assertThat(shown.exitCode()).as(shown.err()).isZero();
            assertThat(shown.out()).contains("(hidden)").doesNotContain(secret);
        }
        assertThat(byFlag.out()).contains("option --jwt-secret-file");
        assertThat(byVariable.out()).contains("variable CARILLON_JWT_SECRET_FILE");
    }

    @Test
    void incomplete_token_settings_are_refused() {
        Map<String, String> database = Map.of("DATABASE_URL", URL);

        CommandResult alone = CommandResult.runWith(database, "config", "print", "--jwt-issuer", "me");
        CommandResult withoutIssuer =
                CommandResult.runWith(database, "config", "print", "--jwt-jwks", "https://id.example/jwks.json");
        CommandResult odd =
                CommandResult.runWith(database, "config", "print", "--jwt-issuer", "me", "--jwt-jwks", "id.example");

        assertThat(java.util.List.of(alone.exitCode(), withoutIssuer.exitCode(), odd.exitCode()))
                .containsOnly(2);
        assertThat(alone.err()).contains("jwt.jwks or jwt.secret");
        assertThat(withoutIssuer.err()).contains("jwt.issuer");
        assertThat(odd.err()).contains("(was 'id.example' from option --jwt-jwks)", "https://");
    }

    @Test
    void an_invalid_word_is_refused_with_the_nearest() {
        Map<String, String> environment = Map.of("DATABASE_URL", URL);

        assertThat(CommandResult.runWith(environment, "serve", "--schema", "validat")
                        .err())
                .contains("auto, validate, off, print", "Did you mean 'validate'?");
        assertThat(CommandResult.runWith(environment, "serve", "--role", "engin")
                        .err())
                .contains("Did you mean 'engine'?");
        assertThat(CommandResult.runWith(environment, "config", "print", "-o", "yml")
                        .err())
                .contains("Did you mean 'yaml'?");
    }

    @Test
    void completion_is_a_script_for_both_shells() {
        CommandResult bash = CommandResult.run("completion", "bash");

        assertThat(bash.exitCode()).isZero();
        assertThat(bash.out()).contains("_complete_carillon", "backfill", "--key-file");
        assertThat(CommandResult.run("completion", "zsh").exitCode()).isZero();
        assertThat(CommandResult.run("completion", "fish").exitCode()).isEqualTo(2);
    }
}
