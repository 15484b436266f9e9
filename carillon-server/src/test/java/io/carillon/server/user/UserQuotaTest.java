package io.carillon.server.user;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.CarillonServer;
import io.carillon.server.RestTestServer;
import io.carillon.server.login.TestProvider;
import io.carillon.server.store.ProjectRepository;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The requests of a user are limited also if no project allows them. */
class UserQuotaTest {
    private static final TestProvider PROVIDER = new TestProvider();

    @RegisterExtension
    static final RestTestServer SERVER =
            new RestTestServer(builder -> builder, server -> server.provider(PROVIDER.settings()));

    @Test
    void a_user_who_names_projects_of_others_is_slowed_down() {
        String cookie = PROVIDER.session(SERVER, SERVER.server().port(), "searching", Map.of());
        try (CarillonServer limited = SERVER.start(server -> server.provider(PROVIDER.settings())
                .quota(new ProjectRepository.Quota(2d, null, null, null, null, null, null)))) {
            int status = 403;
            for (int i = 0; i < 200 && status == 403; i++)
                status = SERVER.sendTo(
                                limited.port(),
                                null,
                                "GET",
                                "/v1/runs",
                                null,
                                "Cookie",
                                cookie,
                                "X-Carillon-Project",
                                "p" + i)
                        .status();
            assertThat(status).isEqualTo(429);
        }
    }
}
