package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A read-only server refuses every change, however it is sent. */
class ReadOnlyTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(builder -> builder, server -> server.readOnly(true));

    @Test
    void every_operation_that_changes_something_is_refused() {
        Set<String> allowed = SERVER.server().routes().stream()
                .filter(route -> !route.method().equals("GET"))
                .filter(route -> SERVER.sendTo(
                                        SERVER.server().port(),
                                        route.permission() == Permission.PUBLIC ? null : SERVER.bootstrap(),
                                        route.method(),
                                        route.path().replaceAll("\\{[a-z]+}", "x"),
                                        route.maxBodyBytes() == 0 ? null : "{}")
                                .text()
                                .indexOf("\"code\":\"read-only\"")
                        < 0)
                .map(route -> route.method() + " " + route.path())
                .collect(Collectors.toSet());

        assertThat(allowed)
                .containsExactlyInAnyOrder(
                        "POST /v1/session",
                        "POST /v1/session:redeem",
                        "DELETE /v1/session",
                        "DELETE /v1/sessions/{id}",
                        "POST /v1/keys:revoke-by-value",
                        "POST /v1/schedules:preview",
                        "POST /v1/runs/{id}/complete");
        assertThat(SERVER.query("SELECT count(*) FROM carillon.run").text()).isEqualTo("0");
    }

    @Test
    void headers_that_name_another_method_change_nothing() {
        for (String header : new String[] {"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"})
            SERVER.send(SERVER.bootstrap(), "GET", "/v1/runs", null, header, "POST")
                    .requireStatus(200);
        assertThat(SERVER.sendTo(SERVER.server().port(), SERVER.bootstrap(), "HEAD", "/v1/run-due", null)
                        .status())
                .isEqualTo(405);
        SERVER.get(SERVER.bootstrap(), "/v1/runs").requireStatus(200);
    }

    @Test
    void refusals_say_why_and_the_session_shows_it() {
        assertThat(SERVER.post(SERVER.bootstrap(), "/v1/runs", "{\"target\":{\"handler\":\"a\"}}")
                        .requireStatus(403)
                        .at("/detail"))
                .contains("read-only", "Nothing was changed");
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/session").at("/readOnly"))
                .isEqualTo("true");
        // A caller without a key learns nothing.
        SERVER.post(null, "/v1/runs", "{}").requireStatus(401);
        try (CarillonServer other = SERVER.start(server -> server)) {
            assertThat(SERVER.sendTo(other.port(), SERVER.bootstrap(), "GET", "/v1/session", null)
                            .at("/readOnly"))
                    .isEqualTo("false");
        }
        assertThat(SERVER.server().routes().stream().map(Route::path)).contains("/v1/members");
    }
}
