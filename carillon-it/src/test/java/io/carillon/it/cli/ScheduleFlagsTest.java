package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Flags for all properties of a schedule: they are stored, shown and updated one by one. */
class ScheduleFlagsTest {
    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    private static RemoteServer.CommandResult schedule(String... words) {
        String[] all = new String[words.length + 1];
        all[0] = "schedule";
        System.arraycopy(words, 0, all, 1, words.length);
        return SERVER.run(all);
    }

    private static JsonNode shown(String name) {
        return schedule("get", name, "-o", "json").json();
    }

    @Test
    void every_policy_has_a_flag_and_is_read_back() {
        RemoteServer.CommandResult made = schedule(
                "create",
                "whole",
                "--cron",
                "30 2 * * *",
                "--zone",
                "Europe/Paris",
                "--from",
                "2026-01-01T00:00:00Z",
                "--until",
                "2099-01-01T00:00:00Z",
                "--except",
                "2098-12-24,2098-12-25",
                "--max-runs",
                "1000",
                "--jitter",
                "90s",
                "--gap",
                "skip",
                "--repeat",
                "both",
                "--handler",
                "fine",
                "--queue",
                "nights",
                "--priority",
                "low",
                "--attempts",
                "4",
                "--retry-first",
                "2s",
                "--retry-factor",
                "1.5",
                "--retry-cap",
                "1m",
                "--retry-jitter",
                "0.1",
                "--attempt-timeout",
                "30s",
                "--missed",
                "run-all",
                "--missed-cap",
                "7",
                "--missed-spread",
                "1m",
                "--catch-up",
                "2h",
                "--grace",
                "10m",
                "--overlap",
                "queue-one",
                "--pause-after",
                "3");

        assertThat(made.exitCode()).as(made.err()).isZero();
        JsonNode whole = shown("whole");
        assertThat(texts(
                        whole,
                        "/when/gap",
                        "/when/repeat",
                        "/when/jitter",
                        "/when/maxRuns",
                        "/when/except/1",
                        "/queue",
                        "/priority",
                        "/retry/attempts",
                        "/retry/first",
                        "/retry/factor",
                        "/retry/cap",
                        "/retry/jitter",
                        "/timeout",
                        "/missed",
                        "/missedCap",
                        "/missedSpread",
                        "/catchUp",
                        "/grace",
                        "/overlap",
                        "/pauseAfter"))
                .containsExactly(
                        "skip",
                        "both",
                        "PT1M30S",
                        "1000",
                        "2098-12-25",
                        "nights",
                        "low",
                        "4",
                        "PT2S",
                        "1.5",
                        "PT1M",
                        "0.1",
                        "PT30S",
                        "run-all",
                        "7",
                        "PT1M",
                        "PT2H",
                        "PT10M",
                        "queue-one",
                        "3");
    }

    private static List<String> texts(JsonNode node, String... pointers) {
        return List.of(pointers).stream()
                .map(pointer -> node.at(pointer).asString())
                .toList();
    }

    @Test
    void an_interval_is_adaptive_or_counts_from_a_start() {
        assertThat(schedule("create", "paced", "--adaptive", "10s..1h", "--handler", "fine")
                        .exitCode())
                .isZero();
        assertThat(schedule("create", "grid", "--every", "2h", "--start", "2026-01-01T00:30:00Z", "--handler", "fine")
                        .exitCode())
                .isZero();

        assertThat(texts(shown("paced"), "/when/adaptive/min", "/when/adaptive/max"))
                .containsExactly("PT10S", "PT1H");
        assertThat(shown("grid").at("/when/every/start").asString()).isEqualTo("2026-01-01T00:30:00Z");
        assertThat(schedule("create", "x", "--adaptive", "10s", "--handler", "fine")
                        .err())
                .contains("10s..1h");
        assertThat(schedule("create", "x", "--adaptive", "1h..10s", "--handler", "fine")
                        .err())
                .contains("/when/adaptive");
        assertThat(schedule("create", "x", "--cron", "@daily", "--start", "2026-01-01T00:30:00Z", "--handler", "fine")
                        .err())
                .contains("--start needs --every");
        assertThat(schedule("create", "x", "--cron", "@daily", "--every", "1h", "--handler", "fine")
                        .exitCode())
                .isEqualTo(2);
    }

    @Test
    void update_changes_only_the_given_properties() {
        schedule(
                "create", "mended", "--cron", "0 2 * * *", "-z", "Europe/Paris", "--jitter", "1m", "--handler", "fine");

        assertThat(schedule("update", "mended", "--overlap", "skip").out()).isEqualTo("mended changed\n");
        assertThat(schedule("update", "mended", "--overlap", "skip").out()).isEqualTo("mended unchanged\n");
        assertThat(texts(shown("mended"), "/overlap", "/when/cron", "/when/jitter"))
                .containsExactly("skip", "0 2 * * *", "PT1M");

        assertThat(schedule("update", "mended", "--every", "3h", "--clear", "jitter,overlap")
                        .exitCode())
                .isZero();
        JsonNode changed = shown("mended");
        assertThat(changed.at("/when").has("cron")).isFalse();
        assertThat(changed.at("/when").has("jitter")).isFalse();
        assertThat(texts(changed, "/when/every/amount", "/overlap", "/target/handler"))
                .containsExactly("3", "allow", "fine");
        assertThat(schedule("update", "mended", "--clear", "jiter").err()).contains("Did you mean 'jitter'?");
        assertThat(schedule("update", "unknown", "--overlap", "skip").exitCode())
                .isEqualTo(3);
    }

    @Test
    void update_changes_parts_of_the_retries_and_clears_them() {
        schedule(
                "create",
                "retried",
                "--every",
                "3h",
                "--handler",
                "fine",
                "--attempts",
                "4",
                "--attempt-timeout",
                "30s");

        assertThat(schedule("update", "retried", "--retry-first", "2s").exitCode())
                .isZero();
        assertThat(texts(shown("retried"), "/retry/attempts", "/retry/first", "/timeout"))
                .containsExactly("4", "PT2S", "PT30S");
        assertThat(schedule("update", "retried", "--retry-cap", "1s").err()).contains("/retry/cap", "first must not");
        assertThat(schedule("update", "retried", "--clear", "retry,attempt-timeout")
                        .exitCode())
                .isZero();
        assertThat(shown("retried").has("retry")).isFalse();
        assertThat(shown("retried").has("timeout")).isFalse();
    }

    @Test
    void an_invalid_value_is_rejected_with_the_nearest_valid_value_before_a_request_is_sent() {
        String[][] wrong = {
            {"--overlap", "skp", "skip"},
            {"--missed", "run-al", "run-all"},
            {"--priority", "nromal", "normal"},
            {"--gap", "run-aftr", "run-after"},
            {"--repeat", "secnd", "second"},
            {"--handlr", "fine", "--handler"}
        };
        for (String[] one : wrong) {
            RemoteServer.CommandResult refused =
                    schedule("create", "odd", "--every", "1h", "--handler", "fine", one[0], one[1]);
            assertThat(refused.exitCode()).as(refused.err()).isEqualTo(2);
            assertThat(refused.err()).contains("Did you mean '" + one[2] + "'?");
        }
        assertThat(schedule("list", "-o", "jsn").err()).contains("Did you mean 'json'?");
        assertThat(schedule("get", "odd").exitCode()).isEqualTo(3);
    }
}
