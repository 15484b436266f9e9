package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SharedRequestsTest {
    private static final Caller READER = new Caller("acme", "key a", Set.of("read"), KeyLimits.until(null));

    private static ApiRequest request(String path, Caller caller, String cacheControl, String limit) {
        Route route = Route.get(path, Permission.READ, request -> ApiResponse.noContent())
                .withQuery("limit");
        return new ApiRequest(
                new ApiRequest.Head(
                        route,
                        Map.of(),
                        Map.of("limit", List.of(limit)),
                        Map.of("cache-control", cacheControl),
                        "req_1",
                        "127.0.0.1"),
                new byte[0],
                caller);
    }

    private static ApiRequest queues(Caller caller) {
        return request("/v1/queues", caller, "no-transform, max-age=2", "10");
    }

    @Test
    void callers_of_a_project_with_the_same_scopes_share_answers() {
        Caller other = new Caller("acme", "key b", Set.of("read"), KeyLimits.until(null));

        assertThat(queues(READER).sharing()).isPresent().isEqualTo(queues(other).sharing());
        assertThat(queues(READER).sharing().orElseThrow().maxAge()).isEqualTo(Duration.ofSeconds(2));
        assertThat(request("/v1/queues", READER, "max-age=90", "10")
                        .sharing()
                        .orElseThrow()
                        .maxAge())
                .isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void what_differs_is_not_shared() {
        ApiRequest.SharedKey key = queues(READER).sharing().orElseThrow().key();

        assertThat(List.of(
                        queues(new Caller("other", "key a", Set.of("read"), KeyLimits.until(null))),
                        queues(new Caller("acme", "key a", Set.of("admin"), KeyLimits.until(null))),
                        request("/v1/queues", READER, "max-age=2", "20"),
                        request("/v1/runs", READER, "max-age=2", "10")))
                .allSatisfy(request ->
                        assertThat(request.sharing().orElseThrow().key()).isNotEqualTo(key));
    }

    @Test
    void a_request_that_does_not_accept_an_older_answer_gets_its_own() {
        Caller restricted = READER.withLimits(new KeyLimits(null, List.of(), List.of("mail"), List.of(), List.of()));

        assertThat(List.of(
                        request("/v1/queues", READER, "no-cache", "10"),
                        request("/v1/queues", READER, "max-age=0", "10"),
                        request("/v1/session", READER, "max-age=2", "10"),
                        queues(restricted)))
                .allSatisfy(request -> assertThat(request.sharing()).isEmpty());
    }
}
