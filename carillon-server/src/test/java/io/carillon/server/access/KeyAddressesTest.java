package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.CarillonServer;
import io.carillon.server.RestTestServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A key can be limited to addresses, and ended by anyone who finds it. */
class KeyAddressesTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    @Test
    void a_key_works_from_its_addresses_only() {
        String here = create(SERVER.bootstrap(), "read", "\"127.0.0.0/8\",\"fd00::/8\"")
                .at("/key");
        String elsewhere =
                create(SERVER.bootstrap(), "read", "\"192.0.2.0/24\"").at("/key");

        SERVER.get(here, "/v1/stats").requireStatus(200);
        assertThat(SERVER.get(elsewhere, "/v1/stats").requireStatus(401).text().replaceAll("req_[0-9a-z]+", ""))
                .isEqualTo(SERVER.get("crl_wrong", "/v1/stats").text().replaceAll("req_[0-9a-z]+", ""));
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/keys/" + id(here))
                        .requireStatus(200)
                        .at("/addresses/1"))
                .isEqualTo("fd00::/8");
    }

    @Test
    void invalid_ranges_are_refused() {
        for (String range : new String[] {"localhost", "10.0.0.0/33", "10.0.0/8", "::/129", "010.0.0.1", "10.0.0.1/-1"})
            assertThat(SERVER.post(
                                    SERVER.bootstrap(),
                                    "/v1/keys",
                                    "{\"name\":\"k\",\"scopes\":[\"read\"],\"addresses\":[\"" + range + "\"]}")
                            .requireStatus(422)
                            .at("/errors/0/pointer"))
                    .isEqualTo("/addresses/0");
    }

    @Test
    void a_limited_key_creates_and_rotates_no_key_for_other_addresses() {
        String limited = create(SERVER.bootstrap(), "admin", "\"127.0.0.0/8\"").at("/key");
        String unlimited = SERVER.createKey("read");

        SERVER.post(limited, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"read\"],\"addresses\":[\"0.0.0.0/0\"]}")
                .requireStatus(422);
        assertThat(SERVER.post(limited, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"read\"]}")
                        .requireStatus(201)
                        .at("/addresses/0"))
                .isEqualTo("127.0.0.0/8");
        String inner = create(limited, "read", "\"127.0.0.1\"").at("/key");
        SERVER.get(inner, "/v1/stats").requireStatus(200);
        SERVER.post(limited, "/v1/keys/" + id(unlimited) + "/rotate", null).requireStatus(403);
        assertThat(SERVER.post(limited, "/v1/keys/" + id(inner) + "/rotate", null)
                        .requireStatus(201)
                        .at("/addresses/0"))
                .isEqualTo("127.0.0.1");
    }

    @Test
    void a_leaked_key_is_revoked_by_its_value() {
        String admin = SERVER.createProject("leaking");
        String key = SERVER.createKeyAs(admin, "read");

        revokeByValue(key).requireStatus(204);
        revokeByValue(key).requireStatus(204);
        revokeByValue(new KeyIssuer(new byte[32]).generate().text()).requireStatus(204);
        revokeByValue("nothing").requireStatus(204);

        assertThat(SERVER.get(admin, "/v1/keys/" + id(key)).json().has("revokedAt"))
                .isTrue();
        RestTestServer.Reply log =
                SERVER.get(admin, "/v1/audit?action=key.revoke-by-value").requireStatus(200);
        assertThat(log.json().path("items")).hasSize(1);
        assertThat(log.at("/items/0/object")).isEqualTo("key/" + id(key));
        assertThat(log.at("/items/0/detail/address")).isEqualTo("127.0.0.1");
    }

    @Test
    void a_value_with_another_secret_revokes_nothing_and_guesses_are_limited() {
        String key = SERVER.createKey("read");
        String forged = new PlaintextApiKey(id(key), "0".repeat(32)).text();
        try (CarillonServer other = SERVER.start()) {
            int status = 204;
            for (int i = 0; i < 60 && status == 204; i++)
                status = SERVER.sendTo(
                                other.port(), null, "POST", "/v1/keys:revoke-by-value", "{\"key\":\"" + forged + "\"}")
                        .status();
            assertThat(status).isEqualTo(429);
        }
        SERVER.get(key, "/v1/stats").requireStatus(200);
    }

    private static RestTestServer.Reply revokeByValue(String key) {
        return SERVER.post(null, "/v1/keys:revoke-by-value", "{\"key\":\"" + key + "\"}");
    }

    private static RestTestServer.Reply create(String caller, String scope, String addresses) {
        return SERVER.post(
                        caller,
                        "/v1/keys",
                        "{\"name\":\"k\",\"scopes\":[\"%s\"],\"addresses\":[%s]}".formatted(scope, addresses))
                .requireStatus(201);
    }

    private static String id(String key) {
        return PlaintextApiKey.parse(key).orElseThrow().id();
    }
}
