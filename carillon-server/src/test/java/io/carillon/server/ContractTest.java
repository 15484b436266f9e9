package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The description of the interface and the routes say the same, in both directions. That answers fit it, every other test checks. */
class ContractTest {
    @RegisterExtension
    static final Served SERVED = new Served();

    private static Set<String> routes() {
        Set<String> all = new TreeSet<>();
        for (Route route : SERVED.server().routes()) all.add(route.method() + " " + route.path());
        return all;
    }

    @Test
    void every_route_is_declared_and_every_declared_operation_exists() {
        Set<String> declared = new TreeSet<>();
        Contract.the().operations().forEach(operation -> declared.add(operation.toString()));

        assertThat(routes()).isEqualTo(declared);
    }

    @Test
    void permissions_and_parameters_are_those_declared() {
        for (Route route : SERVED.server().routes()) {
            Contract.Operation operation =
                    Contract.the().find(route.method(), route.path()).orElseThrow();
            assertThat(operation.path()).isEqualTo(route.path());
            assertThat(operation.permission())
                    .as(route.path())
                    .isEqualTo(route.permission().text());
            assertThat(operation.parameters("query")).as(route.path()).isEqualTo(new TreeSet<>(route.query()));
        }
    }

    @Test
    void errors_are_declared_where_they_can_occur() {
        for (Contract.Operation operation : Contract.the().operations()) {
            List<String> needed = operation.permission().equals("public")
                    ? List.of("400")
                    : List.of("400", "401", "403", "429", "503");
            for (String status : needed)
                assertThat(operation.node().path("responses").has(status))
                        .as("%s declares %s", operation, status)
                        .isTrue();
        }
    }

    @Test
    void only_what_tells_nothing_is_public() {
        assertThat(SERVED.server().routes().stream()
                        .filter(route -> route.permission() == Permission.PUBLIC)
                        .map(Route::path))
                .containsExactlyInAnyOrder(
                        "/healthz",
                        "/readyz",
                        "/version",
                        "/v1/openapi.json",
                        // A receiver has no key: the token of its attempt is one, for this and once.
                        "/v1/runs/{id}/complete");
    }

    @Test
    void serves_the_description_and_says_how_it_fares() {
        assertThat(SERVED.get(null, "/v1/openapi.json").is(200).at("/openapi")).isEqualTo("3.1.0");
        assertThat(SERVED.get(null, "/healthz").is(200).at("/status")).isEqualTo("ok");
        assertThat(SERVED.get(null, "/readyz").is(200).at("/status")).isEqualTo("ready");
        SERVED.get(null, "/version").is(200);
        SERVED.get(SERVED.bootstrap(), "/v1/health").is(200);
        SERVED.get(SERVED.bootstrap(), "/v1/nodes").is(200);
        assertThat(SERVED.get(SERVED.bootstrap(), "/metrics").is(200).text())
                .contains("carillon_http_requests_seconds");
    }

    @Test
    void answers_carry_a_request_id_and_keep_the_callers_own() {
        assertThat(SERVED.get(null, "/healthz").header("X-Request-Id").orElseThrow())
                .startsWith("req_");
        assertThat(SERVED.send(null, "GET", "/healthz", null, "X-Request-Id", "mine-1")
                        .header("X-Request-Id"))
                .contains("mine-1");
        assertThat(SERVED.send(null, "GET", "/v1/runs", null, "X-Request-Id", "mine-2")
                        .is(401)
                        .at("/requestId"))
                .isEqualTo("mine-2");
    }

    @Test
    void unknown_paths_and_methods_are_told_apart() {
        assertThat(SERVED.raw(SERVED.server().port(), null, "GET", "/v1/nothing", null)
                        .is(404)
                        .code())
                .isEqualTo("no-such-path");
        Served.Reply reply = SERVED.raw(SERVED.server().port(), null, "DELETE", "/v1/runs", null)
                .is(405);
        assertThat(reply.header("Allow")).contains("GET, POST");
    }
}
