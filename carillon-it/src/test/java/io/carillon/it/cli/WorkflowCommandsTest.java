package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** {@code carillon workflow} against a running server. */
class WorkflowCommandsTest {
    private static final String SLEEPING = "{\"order\":7,\"card_number\":\"4711\",\"sleeps\":true}";

    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    private static String start(String input) {
        RemoteServer.CommandResult made = SERVER.run("workflow", "start", "checkout", "--payload", input, "-o", "name");
        assertThat(made.exitCode()).as(made.err()).isZero();
        return made.out().strip();
    }

    private static String asleep() {
        String run = start(SLEEPING);
        await().until(() -> steps(run).size() == 2);
        return run;
    }

    private static JsonNode steps(String run) {
        return SERVER.run("workflow", "steps", run, "-o", "json").json();
    }

    @Test
    void a_workflow_is_started_listed_and_shown_with_its_steps() {
        String run = asleep();

        assertThat(SERVER.run("workflow", "start", "checkout", "--payload", SLEEPING)
                        .out())
                .matches("Started checkout as run_[0-9a-z]{26}\\.\n");
        assertThat(SERVER.run("workflow", "steps", run).out())
                .startsWith("POSITION  STEP")
                .containsPattern("0 +charge +step +succeeded +\\S.* +- +done +\\{\"order\":7,")
                .contains("\"card_number\":\"[redacted]\"")
                .containsPattern("1 +cooling-off +sleep +waiting +\\S.* +in [23] d ");
        assertThat(SERVER.run("workflow", "get", run).out())
                .startsWith("id ")
                .containsPattern("state +waiting\n")
                .contains("\n\nPOSITION  STEP")
                .contains("cooling-off");
        JsonNode shown = SERVER.run("workflow", "get", run, "-o", "json").json();
        assertThat(shown.path("id").asString()).isEqualTo(run);
        assertThat(shown.path("steps")).isEqualTo(steps(run));
    }

    @Test
    void only_workflows_are_listed() {
        String run = asleep();
        String other = SERVER.run("run", "enqueue", "fine", "-o", "name").out().strip();

        assertThat(SERVER.run("workflow", "list", "-o", "name").out())
                .contains(run)
                .doesNotContain(other);
        assertThat(SERVER.run("workflow", "list", "--handler", "checkout", "--state", "waiting")
                        .out())
                .containsPattern(run + " +waiting +checkout ");
        assertThat(SERVER.run("workflow", "list", "--handler", "fine").err()).contains("No items found.");
        assertThat(SERVER.run("workflow", "list", "--stuck").err()).contains("No items found.");
    }

    @Test
    void a_long_value_is_shown_by_its_position() {
        String run = start("{\"items\":[\"a b\"]}");
        SERVER.run("run", "wait", run);

        assertThat(SERVER.run("workflow", "steps", run).out())
                .containsPattern("1 +pick\\[a b] +step +succeeded +.* 7002 bytes");
        assertThat(SERVER.run("workflow", "steps", run, "--position", "1").out())
                .containsPattern("value +picked picked picked");
        assertThat(SERVER.run("workflow", "steps", run, "--position", "2").exitCode())
                .isEqualTo(3);
        assertThat(SERVER.run("workflow", "steps", run, "--limit", "1").err()).contains("More than 1 item exists");
    }

    @Test
    void a_key_starts_a_workflow_once() {
        String run = SERVER.run("workflow", "start", "checkout", "--key", "o-1", "--payload", SLEEPING, "-o", "name")
                .out()
                .strip();

        assertThat(SERVER.run("workflow", "start", "checkout", "--key", "o-1").out())
                .isEqualTo(run + " already has the unique key; nothing was started.\n");
    }

    @Test
    void an_id_starts_a_workflow_once_and_finds_it() {
        String[] command = {"workflow", "start", "checkout", "--id", "order-4711", "--payload", SLEEPING, "-o", "name"};
        String run = SERVER.run(command).out().strip();

        assertThat(SERVER.run("workflow", "start", "checkout", "--id", "order-4711")
                        .out())
                .isEqualTo(run + " already has the id; nothing was started.\n");
        assertThat(SERVER.run("workflow", "list", "--handler", "checkout", "--id", "order-4711", "-o", "name")
                        .out())
                .isEqualTo(run + "\n");
        assertThat(SERVER.run("workflow", "start", "checkout", "--id", "a", "--key", "b")
                        .err())
                .contains("Remove --key");
        assertThat(SERVER.run("workflow", "list", "--id", "order-4711").err()).contains("needs the handler");
    }

    @Test
    void a_dead_workflow_is_retried() {
        String run = start("{\"fails\":true}");
        SERVER.run("run", "wait", run);

        String again = SERVER.run("workflow", "retry", run, "-o", "name").out().strip();

        SERVER.run("run", "wait", again);
        assertThat(steps(again).path(0)).isEqualTo(steps(run).path(0));
        assertThat(SERVER.run("workflow", "retry", run).exitCode()).isEqualTo(5);
    }

    @Test
    void children_are_listed() {
        String parent = asleep();
        String child = SERVER.run("workflow", "start", "checkout", "--parent", parent, "-o", "name")
                .out()
                .strip();

        assertThat(SERVER.run("workflow", "list", "--parent", parent, "-o", "name")
                        .out())
                .isEqualTo(child + "\n");
        assertThat(SERVER.run("workflow", "get", child).out()).containsPattern("parent +" + parent);
    }

    @Test
    void a_start_sends_a_signal_too() {
        String[] command = {
            "workflow",
            "start",
            "checkout",
            "--id",
            "order-signal",
            "--payload",
            "{\"approved\":true}",
            "--signal",
            "approval",
            "--signal-value",
            "{\"by\":\"ann\"}",
            "--signal-id",
            "mail-77"
        };

        assertThat(SERVER.run(command).out())
                .matches("Started checkout as run_[0-9a-z]{26}\\. Sent signal approval\\.\n");
        String run = SERVER.run("workflow", "list", "--handler", "checkout", "--id", "order-signal", "-o", "name")
                .out()
                .strip();
        assertThat(SERVER.run("run", "wait", run).exitCode()).isZero();
        assertThat(SERVER.run("workflow", "steps", run).out()).contains("{\"by\":\"ann\"}");
        assertThat(SERVER.run(command).out())
                .isEqualTo(run + " already has the id; nothing was started. It already has a signal with this id.\n");
        assertThat(SERVER.run("workflow", "start", "checkout", "--signal-id", "x")
                        .err())
                .contains("need --signal");
    }

    @Test
    void a_signal_continues_a_workflow() {
        String run = start("{\"approved\":true}");
        await().until(() -> steps(run).size() == 2);
        assertThat(SERVER.run("workflow", "steps", run).out())
                .containsPattern("1 +approval +await +waiting .* waits for signal approval until ");
        assertThat(SERVER.run("run", "explain", run).out())
                .startsWith("It waits: it waits for signal 'approval' until ")
                .contains("workflow signal " + run + " approval --value JSON");

        String[] command = {"workflow", "signal", run, "approval", "--value", "{\"by\":\"ann\"}", "--id", "mail-77"};
        assertThat(SERVER.run(command).out()).isEqualTo("Sent signal approval to " + run + ".\n");

        assertThat(SERVER.run("run", "wait", run).exitCode()).isZero();
        assertThat(SERVER.run("workflow", "steps", run).out())
                .containsPattern("2 +approval +signal +succeeded .* signal approval arrived +\\{\"by\":\"ann\"}");
        assertThat(SERVER.run("workflow", "signal", run, "approval").exitCode()).isEqualTo(5);
        assertThat(SERVER.run("workflow", "signal", run).exitCode()).isEqualTo(2);
    }

    @Test
    void a_signal_with_an_id_is_sent_once() {
        String run = asleep();
        String[] command = {"workflow", "signal", run, "approval", "--id", "mail-77", "-o", "json"};

        assertThat(SERVER.run(command).json().path("result").asString()).isEqualTo("sent");
        assertThat(SERVER.run(command).json().path("result").asString()).isEqualTo("duplicate");
        assertThat(SERVER.run("workflow", "signal", run, "approval", "--id", "mail-77")
                        .out())
                .isEqualTo(run + " already has a signal with this id; nothing was sent.\n");
    }

    @Test
    void a_workflow_that_sleeps_is_cancelled() {
        String run = asleep();

        assertThat(SERVER.run("workflow", "cancel", run, "--reason", "sold out").out())
                .isEqualTo("Cancelled " + run + ".\n");

        assertThat(steps(run).path(1).path("state").asString()).isEqualTo("cancelled");
        assertThat(SERVER.run("workflow", "cancel", run).exitCode()).isEqualTo(5);
    }

    @Test
    void wrong_calls_say_what_to_do() {
        assertThat(SERVER.run("workflow", "steps", "run_00000000000000000000000000")
                        .exitCode())
                .isEqualTo(3);
        assertThat(SERVER.run("workflow", "start").exitCode()).isEqualTo(2);
        assertThat(SERVER.run("workflow", "step", "x").err()).contains("steps");
        assertThat(SERVER.run("workflow").out()).contains("list", "get", "steps", "start", "signal", "cancel");
    }
}
