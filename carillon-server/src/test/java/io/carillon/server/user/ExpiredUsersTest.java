package io.carillon.server.user;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import io.carillon.server.login.TestProvider;
import io.carillon.server.store.Transactions;
import io.carillon.server.store.UserRepository;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Users who are no longer needed are deleted from time to time. */
class ExpiredUsersTest {
    private static final TestProvider PROVIDER = new TestProvider();

    @RegisterExtension
    static final RestTestServer SERVER =
            new RestTestServer(builder -> builder, server -> server.provider(PROVIDER.settings()));

    @Test
    void a_user_without_login_membership_or_project_is_deleted() {
        String key = SERVER.createProject("shop");
        for (String subject : new String[] {"removed", "logged-in", "member"}) add(key, subject);
        String owner = add(SERVER.bootstrap(), "owner");
        SERVER.post(SERVER.bootstrap(), "/v1/projects", "{\"name\":\"owned\",\"owner\":\"%s\"}".formatted(owner))
                .requireStatus(201);
        PROVIDER.session(SERVER, SERVER.server().port(), "logged-in", Map.of());
        for (String subject : new String[] {"removed", "logged-in"})
            SERVER.delete(
                            key,
                            "/v1/members/"
                                    + SERVER.post(
                                                    key,
                                                    "/v1/members",
                                                    "{\"subject\":\"%s\",\"role\":\"viewer\"}".formatted(subject))
                                            .requireStatus(409)
                                            .at("/detail")
                                            .replaceAll(".*(usr_\\w+).*", "$1"))
                    .requireStatus(204);
        SERVER.database()
                .execute("DELETE FROM carillon.project_member m USING carillon.app_user u"
                        + " WHERE u.id = m.user_id AND u.subject = 'owner'");

        new UserRepository(new Transactions(SERVER.database().pool(2))).deleteUnused();

        assertThat(SERVER.query("SELECT string_agg(subject, ' ' ORDER BY subject) FROM carillon.app_user")
                        .text())
                .isEqualTo("logged-in member owner");
    }

    private static String add(String key, String subject) {
        return SERVER.post(key, "/v1/members", "{\"subject\":\"%s\",\"role\":\"viewer\"}".formatted(subject))
                .requireStatus(201)
                .at("/id");
    }
}
