package io.carillon.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Signal;
import io.carillon.workflow.WorkflowType;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Signals to workflows and ids of workflows over REST. */
class WorkflowSignalsTest {
    private static final String START =
            "{\"target\":{\"handler\":\"checkout\"},\"key\":\"order-4711\",\"keyWindow\":\"P14D\"}";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.workflow(WorkflowType.of("checkout", JsonNode.class), WorkflowSignalsTest::checkout),
            server -> server);

    private static String checkout(JsonNode order, Flow flow) {
        return flow.await(Signal.of("approval", JsonNode.class), Duration.ofDays(7))
                .map(approval -> approval.path("by").asString("no name"))
                .orElse("timed out");
    }

    private static void runDue() {
        SERVER.post(SERVER.bootstrap(), "/v1/run-due", "{\"budget\":\"10s\"}").requireStatus(200);
    }

    private static String start(String key) {
        String run = SERVER.post(key, "/v1/runs", START).requireStatus(201).at("/run");
        runDue();
        return run;
    }

    private static RestTestServer.Reply send(String key, String run, String body) {
        return SERVER.post(key, "/v1/runs/" + run + "/signals", body);
    }

    @Test
    void a_signal_continues_a_workflow_and_its_id_removes_duplicates() {
        String key = SERVER.createProject("approving");
        String run = start(key);
        String ann = "{\"name\":\"approval\",\"value\":{\"by\":\"ann\",\"pin\":1234},\"id\":\"mail-77\"}";
        assertThat(SERVER.get(key, "/v1/runs/" + run + "/explain").at("/signal"))
                .isEqualTo("approval");

        assertThat(send(key, run, ann).requireStatus(200).at("/result")).isEqualTo("sent");
        assertThat(send(key, run, ann.replace("ann", "bob")).requireStatus(200).at("/result"))
                .isEqualTo("duplicate");
        runDue();

        assertThat(SERVER.get(key, "/v1/runs/" + run).at("/result")).isEqualTo("ann");
        RestTestServer.Reply steps =
                SERVER.get(key, "/v1/runs/" + run + "/steps").requireStatus(200);
        assertThat(steps.at("/items/0/description")).isEqualTo("waited for signal approval");
        assertThat(steps.at("/items/1/kind")).isEqualTo("signal");
        assertThat(steps.text()).contains("ann").doesNotContain("1234");
        assertThat(SERVER.get(key, "/v1/audit?action=run.signal").text())
                .contains("approval", "mail-77")
                .doesNotContain("1234");
        assertThat(send(key, run, "{\"name\":\"approval\"}").requireStatus(409).at("/type"))
                .endsWith("run-ended");
    }

    @Test
    void a_start_with_a_signal_starts_the_workflow_or_signals_the_one_that_has_the_key() {
        String key = SERVER.createProject("both");
        String both = START.replaceFirst(
                "}$", ",\"signal\":{\"name\":\"approval\",\"value\":{\"by\":\"ann\"},\"id\":\"mail-77\"}}");

        RestTestServer.Reply started = SERVER.post(key, "/v1/runs", both).requireStatus(201);
        assertThat(started.at("/signal")).isEqualTo("sent");
        RestTestServer.Reply again = SERVER.post(key, "/v1/runs", both).requireStatus(200);
        assertThat(again.at("/run")).isEqualTo(started.at("/run"));
        assertThat(again.at("/signal")).isEqualTo("duplicate");
        runDue();
        assertThat(SERVER.get(key, "/v1/runs/" + started.at("/run")).at("/result"))
                .isEqualTo("ann");

        assertThat(SERVER.post(key, "/v1/runs", both.replace("mail-77", "mail-78"))
                        .requireStatus(409)
                        .at("/type"))
                .endsWith("run-ended");
        assertThat(SERVER.post(key, "/v1/runs", both.replace("\"approval\"", "\"No Name\""))
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/signal/name");
        SERVER.post(
                        key,
                        "/v1/runs",
                        both.replace("\"by\"", "\"by\":\"x\",\"more\"").replace("mail-77\"", "m\",\"x\":1"))
                .requireStatus(422);
    }

    @Test
    void a_child_is_started_with_its_parent_and_listed_by_it() {
        String key = SERVER.createProject("children");
        String parent = start(key);
        String child = SERVER.post(
                        key, "/v1/runs", "{\"target\":{\"handler\":\"checkout\"},\"parent\":\"%s\"}".formatted(parent))
                .requireStatus(201)
                .at("/run");

        RestTestServer.Reply children =
                SERVER.get(key, "/v1/runs?parent=" + parent).requireStatus(200);

        assertThat(children.json().path("items")).hasSize(1);
        assertThat(children.at("/items/0/id")).isEqualTo(child);
        assertThat(SERVER.get(key, "/v1/runs/" + child).at("/parent")).isEqualTo(parent);
        assertThat(SERVER.get(SERVER.createProject("elsewhere"), "/v1/runs?parent=" + parent)
                        .json()
                        .path("items"))
                .isEmpty();
        assertThat(SERVER.get(createKey(key, "\"read\"", "other"), "/v1/runs?parent=" + parent)
                        .json()
                        .path("items"))
                .isEmpty();
        SERVER.get(key, "/v1/runs?parent=x").requireStatus(400);
        SERVER.get(key, "/v1/runs?parent=" + parent + "&state=waiting").requireStatus(400);
        SERVER.post(key, "/v1/runs", "{\"target\":{\"handler\":\"checkout\"},\"parent\":\"x\"}")
                .requireStatus(422);
    }

    @Test
    void a_signal_without_a_value_has_an_empty_object() {
        String key = SERVER.createProject("empty");
        String run = start(key);

        assertThat(send(key, run, "{\"name\":\"approval\"}").requireStatus(200).at("/result"))
                .isEqualTo("sent");
        runDue();

        assertThat(SERVER.get(key, "/v1/runs/" + run).at("/result")).isEqualTo("no name");
    }

    @Test
    void wrong_signals_are_rejected() {
        String key = SERVER.createProject("wrong");
        String run = start(key);
        String approval = "{\"name\":\"approval\"}";

        send(key, "run_00000000000000000000000000", approval).requireStatus(404);
        send(key, "x", approval).requireStatus(404);
        send(key, run, "{}").requireStatus(422);
        assertThat(send(key, run, "{\"name\":\"Not A Name\"}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/name");
        assertThat(send(key, run, "{\"name\":\"approval\",\"id\":\"\"}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/id");
        send(key, run, "{\"name\":\"approval\",\"values\":1}").requireStatus(422);
        send(key, run, "{\"name\":\"approval\",\"value\":\"%s\"}".formatted("x".repeat(300_000)))
                .requireStatus(413);
        assertThat(SERVER.get(key, "/v1/runs/" + run + "/explain").at("/signal"))
                .isEqualTo("approval");
        String webhook = SERVER.post(
                        key, "/v1/runs", "{\"target\":{\"url\":\"https://example.com/\"},\"after\":\"1h\"}")
                .requireStatus(201)
                .at("/run");
        assertThat(send(key, webhook, approval).requireStatus(409).at("/type")).endsWith("run-not-workflow");
    }

    @Test
    void a_key_needs_the_scope_and_sees_only_its_runs() {
        String key = SERVER.createProject("scopes");
        String run = start(key);
        String approval = "{\"name\":\"approval\"}";
        String reader = createKey(key, "\"read\"", "checkout");
        String other = createKey(key, "\"enqueue\",\"read\"", "other");
        String sender = createKey(key, "\"enqueue\"", "checkout");

        send(reader, run, approval).requireStatus(403);
        send(other, run, approval).requireStatus(404);
        send(SERVER.createProject("other-project"), run, approval).requireStatus(404);
        send(sender, run, approval).requireStatus(200);
        assertThat(SERVER.get(other, "/v1/runs?handler=checkout&key=order-4711")
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .isEmpty();
    }

    private static String createKey(String key, String scopes, String handler) {
        return SERVER.post(
                        key,
                        "/v1/keys",
                        "{\"name\":\"k\",\"scopes\":[%s],\"handlers\":[\"%s\"]}".formatted(scopes, handler))
                .requireStatus(201)
                .at("/key");
    }

    @Test
    void a_workflow_is_found_by_its_id_also_after_its_end() {
        String key = SERVER.createProject("found");
        String run = start(key);
        String found = "/v1/runs?handler=checkout&key=order-4711";

        assertThat(SERVER.post(key, "/v1/runs", START).requireStatus(200).at("/run"))
                .isEqualTo(run);
        assertThat(SERVER.get(key, found).requireStatus(200).at("/items/0/id")).isEqualTo(run);
        assertThat(SERVER.get(key, "/v1/runs?handler=checkout&key=order-0")
                        .json()
                        .path("items"))
                .isEmpty();
        assertThat(SERVER.get(key, "/v1/runs?handler=refund&key=order-4711")
                        .json()
                        .path("items"))
                .isEmpty();
        SERVER.get(key, "/v1/runs?key=order-4711").requireStatus(400);
        SERVER.get(key, found + "&state=waiting").requireStatus(400);
        SERVER.get(key, "/v1/runs?handler=checkout&key=").requireStatus(400);

        send(key, run, "{\"name\":\"approval\"}").requireStatus(200);
        runDue();
        RestTestServer.Reply ended = SERVER.get(key, found).requireStatus(200);
        assertThat(ended.at("/items/0/id")).isEqualTo(run);
        assertThat(ended.at("/items/0/state")).isEqualTo("succeeded");
    }
}
