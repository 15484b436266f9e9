package io.carillon.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Step;
import io.carillon.workflow.WorkflowType;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** The steps of workflows over REST. */
class WorkflowStepsTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.workflow(WorkflowType.of("checkout", JsonNode.class), WorkflowStepsTest::checkout)
                    .workflow(WorkflowType.of("hidden", JsonNode.class), WorkflowStepsTest::checkout),
            server -> server);

    private static String checkout(JsonNode order, Flow flow) {
        flow.run(Step.of("charge", JsonNode.class), step -> order);
        flow.run(Step.of("fetch-token", String.class), step -> "hush");
        flow.run(Step.of("print", String.class).key("copy [2]"), step -> "x".repeat(5_000));
        if (order.path("sleeps").asBoolean(false)) flow.sleep("cooling-off", Duration.ofDays(3));
        return "done";
    }

    private static String run(String key, String handler, boolean sleeps) {
        String body = "{\"target\":{\"handler\":\"%s\"},\"payload\":{\"password\":\"hush\",\"n\":1,\"sleeps\":%s}}";
        String run = SERVER.post(key, "/v1/runs", body.formatted(handler, sleeps))
                .requireStatus(201)
                .at("/run");
        SERVER.post(SERVER.bootstrap(), "/v1/run-due", "{\"budget\":\"10s\"}").requireStatus(200);
        return run;
    }

    private static RestTestServer.Reply steps(String key, String run, String more) {
        return SERVER.get(key, "/v1/runs/" + run + "/steps" + more);
    }

    @Test
    void are_listed_without_secrets_and_long_values() {
        String key = SERVER.createProject("shown");
        String run = run(key, "checkout", true);

        RestTestServer.Reply page = steps(key, run, "").requireStatus(200);

        assertThat(page.json().path("items")).hasSize(4);
        assertThat(page.text()).doesNotContain("hush", "xxx");
        assertThat(page.at("/items/0/name")).isEqualTo("charge");
        assertThat(page.at("/items/0/state")).isEqualTo("succeeded");
        assertThat(page.json().at("/items/0/value").toString())
                .isEqualTo("{\"password\":\"[redacted]\",\"n\":1,\"sleeps\":true}");
        assertThat(page.at("/items/1/value")).isEqualTo("[redacted]");
        assertThat(page.at("/items/2/key")).isEqualTo("copy [2]");
        assertThat(page.at("/items/2/valueBytes")).isEqualTo("5002");
        assertThat(page.at("/items/3/kind")).isEqualTo("sleep");
        assertThat(page.at("/items/3/state")).isEqualTo("waiting");
        assertThat(page.at("/items/3/until")).endsWith("Z");
    }

    @Test
    void one_is_shown_with_its_whole_value() {
        String key = SERVER.createProject("single");
        String run = run(key, "checkout", false);

        assertThat(steps(key, run, "/2").requireStatus(200).at("/value")).hasSize(5_000);
        assertThat(steps(key, run, "/0").requireStatus(200).text()).doesNotContain("hush");
        assertThat(steps(key, run, "/1").requireStatus(200).at("/value")).isEqualTo("[redacted]");
        for (String nothing : new String[] {"/3", "/-1", "/x", "/99999999999"})
            steps(key, run, nothing).requireStatus(404);
    }

    @Test
    void are_read_in_pages() {
        String key = SERVER.createProject("pages");
        String run = run(key, "checkout", true);

        RestTestServer.Reply first = steps(key, run, "?limit=3").requireStatus(200);
        RestTestServer.Reply second =
                steps(key, run, "?limit=3&cursor=" + first.at("/next")).requireStatus(200);

        assertThat(first.json().path("items")).hasSize(3);
        assertThat(second.json().path("items")).hasSize(1);
        assertThat(second.at("/items/0/name")).isEqualTo("cooling-off");
        assertThat(second.at("/next")).isEmpty();
        steps(key, run, "?limit=0").requireStatus(400);
        steps(key, run, "?cursor=nonsense").requireStatus(400);
    }

    @Test
    void are_not_shown_to_other_projects_and_restricted_keys() {
        String key = SERVER.createProject("mine");
        String run = run(key, "hidden", false);
        String other = SERVER.createProject("theirs");
        String restricted = SERVER.post(
                        key, "/v1/keys", "{\"name\":\"r\",\"scopes\":[\"read\"],\"handlers\":[\"checkout\"]}")
                .requireStatus(201)
                .at("/key");

        for (String path : new String[] {"", "/0"}) {
            steps(other, run, path).requireStatus(404);
            steps(restricted, run, path).requireStatus(404);
            steps(key, "run_00000000000000000000000000", path).requireStatus(404);
        }
    }

    @Test
    void workflows_are_listed_without_other_runs() {
        String key = SERVER.createProject("listed");
        String run = run(key, "checkout", true);
        String other = SERVER.post(key, "/v1/runs", "{\"target\":{\"handler\":\"x\"},\"after\":\"1h\"}")
                .requireStatus(201)
                .at("/run");

        assertThat(SERVER.get(key, "/v1/runs?workflow=true").requireStatus(200).text())
                .contains(run)
                .doesNotContain(other);
        assertThat(SERVER.get(key, "/v1/runs?workflow=false").requireStatus(200).text())
                .contains(run, other);
        SERVER.get(key, "/v1/runs?workflow=yes").requireStatus(400);
        assertThat(steps(key, other, "").requireStatus(200).json().path("items"))
                .isEmpty();
    }
}
