package io.carillon.server.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.RestTestServer;
import io.carillon.server.RestTestServer.Reply;
import io.carillon.server.login.TestProvider;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that change the members and the owner of a project at the same time. */
class MemberRaceTest {
    private static final TestProvider PROVIDER = new TestProvider();

    @RegisterExtension
    static final RestTestServer SERVER =
            new RestTestServer(builder -> builder, server -> server.provider(PROVIDER.settings()));

    @ParameterizedTest
    @CsvSource({"DELETE,", "PUT,{\"role\":\"viewer\"}"})
    void a_member_who_becomes_the_owner_stays_an_admin(String method, String body) throws Exception {
        String project = "given-" + method.toLowerCase(java.util.Locale.ROOT);
        String key = SERVER.createProject(project);
        String heir = SERVER.post(key, "/v1/members", "{\"subject\":\"heir\",\"role\":\"operator\"}")
                .requireStatus(201)
                .at("/id");
        try (Connection owner = SERVER.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.project_member WHERE project = '" + project + "' FOR UPDATE");
            CompletableFuture<Reply> gift = CompletableFuture.supplyAsync(() ->
                    SERVER.put(key, "/v1/projects/" + project + "/settings", "{\"owner\":\"%s\"}".formatted(heir)));
            awaitWaiting(1);
            CompletableFuture<Reply> change =
                    CompletableFuture.supplyAsync(() -> SERVER.send(key, method, "/v1/members/" + heir, body));
            awaitWaiting(2);
            owner.commit();

            gift.join().requireStatus(200);
            assertThat(change.join().requireStatus(409).code()).isEqualTo("member-owns-project");
        }
        assertThat(SERVER.get(key, "/v1/members/" + heir).at("/role")).isEqualTo("admin");
    }

    @Test
    void two_requests_that_add_the_same_new_user_create_one() throws Exception {
        String one = SERVER.createProject("one");
        String two = SERVER.createProject("two");
        String body = "{\"subject\":\"twin\",\"role\":\"viewer\"}";

        CompletableFuture<Reply> first = CompletableFuture.supplyAsync(() -> SERVER.post(one, "/v1/members", body));
        Reply second = SERVER.post(two, "/v1/members", body).requireStatus(201);

        assertThat(first.join().requireStatus(201).at("/id")).isEqualTo(second.at("/id"));
    }

    private static void awaitWaiting(int count) {
        await().pollInterval(Duration.ofMillis(10))
                .until(() -> SERVER.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                        + " AND datname = current_database()")
                                .number()
                        >= count);
    }
}
