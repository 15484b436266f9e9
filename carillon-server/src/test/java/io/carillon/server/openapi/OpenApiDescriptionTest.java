package io.carillon.server.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The API description and the routes agree, in both directions. Every other test checks that responses
 * match the description.
 */
class OpenApiDescriptionTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static Set<String> routes() {
        Set<String> all = new TreeSet<>();
        for (Route route : SERVER.server().routes()) all.add(route.method() + " " + route.path());
        return all;
    }

    @Test
    void every_route_is_declared_and_every_declared_operation_exists() {
        Set<String> declared = new TreeSet<>();
        OpenApiDescription.instance().operations().forEach(operation -> declared.add(operation.toString()));

        assertThat(routes()).isEqualTo(declared);
    }

    @Test
    void permissions_and_parameters_are_those_declared() {
        for (Route route : SERVER.server().routes()) {
            OpenApiDescription.Operation operation = OpenApiDescription.instance()
                    .find(route.method(), route.path())
                    .orElseThrow();
            assertThat(operation.path()).isEqualTo(route.path());
            assertThat(operation.permission())
                    .as(route.path())
                    .isEqualTo(route.permission().text());
            assertThat(operation.parameters("query"))
                    .as(route.path())
                    .isEqualTo(new TreeSet<>(route.queryParameters()));
        }
    }

    @Test
    void errors_are_declared_where_they_can_occur() {
        for (OpenApiDescription.Operation operation :
                OpenApiDescription.instance().operations()) {
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
    void only_operations_without_project_data_are_public() {
        assertThat(SERVER.server().routes().stream()
                        .filter(route -> route.permission() == Permission.PUBLIC)
                        .map(Route::path))
                .containsExactlyInAnyOrder(
                        "/healthz",
                        "/readyz",
                        "/version",
                        "/v1/openapi.json",
                        // The finder of a leaked key has no other key; the route shows nothing.
                        "/v1/keys:revoke-by-value",
                        // The token of a login link replaces a key, once.
                        "/v1/session:redeem",
                        // The receiver of a webhook has no key; the callback token of its attempt allows
                        // this operation once.
                        "/v1/runs/{id}/complete");
    }

    @Test
    void serves_the_description_and_reports_health() {
        assertThat(SERVER.get(null, "/v1/openapi.json").requireStatus(200).at("/openapi"))
                .isEqualTo("3.1.0");
        assertThat(SERVER.get(null, "/healthz").requireStatus(200).at("/status"))
                .isEqualTo("ok");
        assertThat(SERVER.get(null, "/readyz").requireStatus(200).at("/status")).isEqualTo("ready");
        SERVER.get(null, "/version").requireStatus(200);
        SERVER.get(SERVER.bootstrap(), "/v1/health").requireStatus(200);
        SERVER.get(SERVER.bootstrap(), "/v1/nodes").requireStatus(200);
        assertThat(SERVER.get(SERVER.bootstrap(), "/metrics").requireStatus(200).text())
                .contains("# HELP carillon_http_requests_seconds Requests over HTTP");
    }

    @Test
    void answers_carry_a_request_id_and_keep_the_callers_own() {
        assertThat(SERVER.get(null, "/healthz").header("X-Request-Id").orElseThrow())
                .startsWith("req_");
        assertThat(SERVER.send(null, "GET", "/healthz", null, "X-Request-Id", "mine-1")
                        .header("X-Request-Id"))
                .contains("mine-1");
        assertThat(SERVER.send(null, "GET", "/v1/runs", null, "X-Request-Id", "mine-2")
                        .requireStatus(401)
                        .at("/requestId"))
                .isEqualTo("mine-2");
    }

    @Test
    void unknown_paths_and_methods_are_told_apart() {
        assertThat(SERVER.sendTo(SERVER.server().port(), null, "GET", "/v1/nothing", null)
                        .requireStatus(404)
                        .code())
                .isEqualTo("no-such-path");
        RestTestServer.Reply reply = SERVER.sendTo(SERVER.server().port(), null, "DELETE", "/v1/runs", null)
                .requireStatus(405);
        assertThat(reply.header("Allow")).contains("GET, POST");
    }
}
