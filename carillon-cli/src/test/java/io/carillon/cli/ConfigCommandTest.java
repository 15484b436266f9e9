package io.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.seal.Keyring;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings come from flags, the environment and a file, in this order; what is wrong is told with its place. */
class ConfigCommandTest {
    private static final String URL = "postgres://me:s3cret@db.example:5433/shop";

    @TempDir
    Path folder;

    private String file(String text) throws Exception {
        return Files.writeString(folder.resolve("carillon.conf"), text).toString();
    }

    @Test
    void a_flag_comes_before_a_variable_and_that_before_the_file() throws Exception {
        String file = file("# mine\nrole = engine\nlisten = 0.0.0.0:1\ndrain=5s\ndatabase.url = " + URL + "\n");
        Map<String, String> environment = Map.of("CARILLON_LISTEN", "0.0.0.0:2", "CARILLON_DRAIN", "6s");

        Called shown = Called.with(environment, "config", "print", "--config", file, "--drain", "7s");

        assertThat(shown.exit()).as(shown.err()).isZero();
        assertThat(shown.out().lines().map(line -> line.replaceAll(" {2,}", "|")))
                .contains("KEY|VALUE|FROM")
                .contains("role|engine|file " + file)
                .contains("listen|0.0.0.0:2|variable CARILLON_LISTEN")
                .contains("drain|7s|flag --drain")
                .contains("log|text|default");
    }

    @Test
    void no_secret_is_shown() throws Exception {
        Path secret = Files.writeString(folder.resolve("secret"), URL + "\n");
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
            Called shown = Called.with(environment, "config", "print", "-o", "yaml");

            assertThat(shown.exit()).as(shown.err()).isZero();
            assertThat(shown.out()).contains("db.example:5433/shop").doesNotContain("s3cret");
        }
        assertThat(Called.with(inFile, "config", "print").out()).contains("variable DATABASE_URL_FILE");
        assertThat(Called.with(libpq, "config", "print").out()).contains("variables PG*");
    }

    @Test
    void what_is_not_known_is_refused_with_the_nearest_name() throws Exception {
        Called inFile = Called.carillon("config", "print", "--config", file("rol = api\n"));
        Called variable = Called.with(Map.of("CARILLON_LISTN", "8080"), "config", "print");
        Called flag = Called.carillon("serve", "--listn", "8080");

        assertThat(inFile.exit()).isEqualTo(2);
        assertThat(inFile.err()).contains("carillon.conf:1: ", "'rol'. Did you mean 'role'?");
        assertThat(variable.exit()).isEqualTo(2);
        assertThat(variable.err()).contains("CARILLON_LISTN. Did you mean 'CARILLON_LISTEN'?");
        assertThat(flag.err()).contains("Did you mean '--listen'?");
    }

    @Test
    void master_keys_and_where_webhooks_may_go_are_checked_and_no_key_is_shown() throws Exception {
        String line = Keyring.newKey("k");
        String file = Files.writeString(folder.resolve("keys"), line + "\n").toString();
        Called fine = Called.with(
                Map.of(
                        "DATABASE_URL",
                        URL,
                        "CARILLON_MASTER_KEYS",
                        line,
                        "CARILLON_WEBHOOK_ALLOW",
                        "a.example:9000, 10.0.0.0/8"),
                "config",
                "print");
        Called both = Called.with(
                Map.of("DATABASE_URL", URL, "CARILLON_MASTER_KEYS", line, "CARILLON_MASTER_KEYS_FILE", file), "serve");
        Called odd = Called.with(Map.of("DATABASE_URL", URL, "CARILLON_MASTER_KEYS", "k:c2hvcnQ="), "serve");
        Called nowhere = Called.with(Map.of("DATABASE_URL", URL), "serve", "--master-keys-file", file + "x");
        Called everywhere = Called.with(Map.of("DATABASE_URL", URL), "serve", "--webhook-allow", "everywhere");

        assertThat(fine.exit()).as(fine.err()).isZero();
        assertThat(fine.out()).contains("a.example:9000").doesNotContain(line.substring(2));
        for (Called refused : java.util.List.of(both, odd, nowhere, everywhere)) {
            assertThat(refused.exit()).as(refused.err()).isEqualTo(2);
            assertThat(refused.err()).doesNotContain(line.substring(2), "c2hvcnQ=");
        }
        assertThat(both.err()).contains("Both CARILLON_MASTER_KEYS and CARILLON_MASTER_KEYS_FILE are set");
        assertThat(everywhere.err()).contains("'everywhere' cannot be allowed");
    }

    @Test
    void what_kubernetes_sets_for_a_service_of_our_name_and_the_test_kit_reads_is_left_alone() {
        Map<String, String> environment = Map.of(
                "CARILLON_SERVICE_HOST", "10.0.0.1",
                "CARILLON_PORT", "tcp://10.0.0.1:8080",
                "CARILLON_PORT_8080_TCP_ADDR", "10.0.0.1",
                "CARILLON_TEST_DATABASE_URL", "jdbc:postgresql://localhost/test",
                "DATABASE_URL", URL);

        assertThat(Called.with(environment, "config", "print").exit()).isZero();
    }

    @Test
    void what_cannot_be_is_told_with_where_it_came_from() throws Exception {
        Map<String, String> environment = Map.of("DATABASE_URL", URL, "CARILLON_ROLE", "boss");

        Called role = Called.with(environment, "config", "print");
        Called pool = Called.with(Map.of("DATABASE_URL", URL), "serve", "--engine-pool", "2");
        Called both = Called.with(Map.of("DATABASE_URL", URL, "DATABASE_URL_FILE", "x"), "serve");
        Called twice = Called.carillon("serve", "--config", file("log = json\nlog = text\n"));
        Called nowhere = Called.carillon("serve");

        assertThat(role.exit()).isEqualTo(2);
        assertThat(role.err()).contains("role is 'boss' (variable CARILLON_ROLE)", "api, engine, both");
        assertThat(pool.err()).contains("engine-pool is '2' (flag --engine-pool)", "4 to 1000");
        assertThat(both.err()).contains("Both DATABASE_URL and DATABASE_URL_FILE");
        assertThat(twice.err()).contains("carillon.conf:2: 'log' stands there twice");
        assertThat(nowhere.exit()).isEqualTo(2);
        assertThat(nowhere.err()).contains("Which database?", "PGHOST");
    }

    @Test
    void tokens_are_set_up_by_flags_variables_or_the_file_and_their_secret_is_hidden() throws Exception {
        String secret = "a secret of more than thirty-two bytes";
        Path kept = Files.writeString(folder.resolve("jwt.secret"), secret + "\n");
        String file =
                file("database.url = " + URL + "\njwt.issuer = https://id.example\njwt.secret = " + secret + "\n");
        Map<String, String> variables =
                Map.of("DATABASE_URL", URL, "CARILLON_JWT_ISSUER", "me", "CARILLON_JWT_SECRET_FILE", kept.toString());

        Called inFile = Called.carillon("config", "print", "--config", file);
        Called byVariable = Called.with(variables, "config", "print");
        Called byFlag = Called.with(
                Map.of("DATABASE_URL", URL),
                "config",
                "print",
                "--jwt-issuer",
                "me",
                "--jwt-audience",
                "us",
                "--jwt-secret-file",
                kept.toString());

        for (Called shown : java.util.List.of(inFile, byVariable, byFlag)) {
            assertThat(shown.exit()).as(shown.err()).isZero();
            assertThat(shown.out()).contains("(hidden)").doesNotContain(secret);
        }
        assertThat(byFlag.out()).contains("flag --jwt-secret-file");
        assertThat(byVariable.out()).contains("variable CARILLON_JWT_SECRET_FILE");
    }

    @Test
    void half_of_what_tokens_need_is_refused() {
        Map<String, String> database = Map.of("DATABASE_URL", URL);

        Called alone = Called.with(database, "config", "print", "--jwt-issuer", "me");
        Called nobody = Called.with(database, "config", "print", "--jwt-jwks", "https://id.example/jwks.json");
        Called odd = Called.with(database, "config", "print", "--jwt-issuer", "me", "--jwt-jwks", "id.example");

        assertThat(java.util.List.of(alone.exit(), nobody.exit(), odd.exit())).containsOnly(2);
        assertThat(alone.err()).contains("jwt.jwks or jwt.secret");
        assertThat(nobody.err()).contains("jwt.issuer");
        assertThat(odd.err()).contains("jwt.jwks is 'id.example' (flag --jwt-jwks)", "https://");
    }

    @Test
    void a_word_that_cannot_be_is_answered_with_the_nearest() {
        Map<String, String> environment = Map.of("DATABASE_URL", URL);

        assertThat(Called.with(environment, "serve", "--schema", "validat").err())
                .contains("auto, validate, off, print", "Did you mean 'validate'?");
        assertThat(Called.with(environment, "serve", "--role", "engin").err()).contains("Did you mean 'engine'?");
        assertThat(Called.with(environment, "config", "print", "-o", "yml").err())
                .contains("Did you mean 'yaml'?");
    }

    @Test
    void completion_is_a_script_for_both_shells() {
        Called bash = Called.carillon("completion", "bash");

        assertThat(bash.exit()).isZero();
        assertThat(bash.out()).contains("_complete_carillon", "backfill", "--key-file");
        assertThat(Called.carillon("completion", "zsh").exit()).isZero();
        assertThat(Called.carillon("completion", "fish").exit()).isEqualTo(2);
    }
}
