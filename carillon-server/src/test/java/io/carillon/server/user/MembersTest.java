package io.carillon.server.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.RestTestServer;
import io.carillon.server.login.TestProvider;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Members of projects: what their roles allow, and that they act in no other project. */
class MembersTest {
    private static final TestProvider PROVIDER = new TestProvider();
    private static final String RUN = "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}";

    @RegisterExtension
    static final RestTestServer SERVER =
            new RestTestServer(builder -> builder, server -> server.provider(PROVIDER.settings()));

    private static String alpha;
    private static String beta;

    @BeforeAll
    static void create_projects() {
        alpha = SERVER.createProject("alpha");
        beta = SERVER.createProject("beta");
    }

    private static String logIn(String subject) {
        return PROVIDER.session(SERVER, SERVER.server().port(), subject, Map.of("name", "Name of " + subject));
    }

    private static String add(String adminKey, String subject, String role) {
        return SERVER.post(adminKey, "/v1/members", "{\"subject\":\"%s\",\"role\":\"%s\"}".formatted(subject, role))
                .requireStatus(201)
                .at("/id");
    }

    private static RestTestServer.Reply as(String cookie, String project, String method, String path, String body) {
        return SERVER.send(
                null, method, path, body, "Cookie", cookie, "X-Carillon-Project", project, "X-Carillon-CSRF", "1");
    }

    @Test
    void a_role_allows_what_the_scope_of_a_key_allows() {
        add(alpha, "viewer", "viewer");
        add(alpha, "operator", "operator");
        add(alpha, "admin", "admin");
        String viewer = logIn("viewer");
        String operator = logIn("operator");
        String admin = logIn("admin");

        as(viewer, "alpha", "GET", "/v1/runs", null).requireStatus(200);
        assertThat(as(viewer, "alpha", "POST", "/v1/runs", RUN)
                        .requireStatus(403)
                        .text())
                .contains("your role in the project has read");
        as(operator, "alpha", "POST", "/v1/runs", RUN).requireStatus(201);
        as(operator, "alpha", "PUT", "/v1/queues/q/limits", "{\"maxRunning\":2}")
                .requireStatus(200);
        as(operator, "alpha", "GET", "/v1/members", null).requireStatus(403);
        as(operator, "alpha", "GET", "/v1/keys", null).requireStatus(403);
        as(admin, "alpha", "GET", "/v1/keys", null).requireStatus(200);
        assertThat(as(admin, "alpha", "GET", "/v1/members", null)
                        .requireStatus(200)
                        .text())
                .contains("Name of viewer");
        // An admin of a project does not administer the server.
        as(admin, "alpha", "GET", "/v1/nodes", null).requireStatus(403);
        as(admin, "alpha", "POST", "/v1/projects", "{\"name\":\"other\"}").requireStatus(403);
        assertThat(SERVER.get(alpha, "/v1/audit?action=run.enqueue").text()
                        + SERVER.get(alpha, "/v1/audit").text())
                .contains("\"actorName\":\"Name of operator\"");
    }

    @Test
    void a_member_of_one_project_sees_and_changes_nothing_of_another() {
        add(alpha, "alpha-admin", "admin");
        String cookie = logIn("alpha-admin");
        String other = add(beta, "beta-admin", "admin");

        for (String project : new String[] {"beta", "default", "unknown", "BETA", "beta "})
            assertThat(as(cookie, project, "GET", "/v1/members", null).status())
                    .as(project)
                    .isEqualTo(403);
        await().untilAsserted(() -> assertThat(SERVER.get(SERVER.bootstrap(), "/v1/audit?action=request.forbidden")
                        .text())
                .contains("GET /v1/members", "user usr_"));
        as(cookie, "alpha", "GET", "/v1/members/" + other, null).requireStatus(404);
        as(cookie, "alpha", "PUT", "/v1/members/" + other, "{\"role\":\"viewer\"}")
                .requireStatus(404);
        as(cookie, "alpha", "DELETE", "/v1/members/" + other, null).requireStatus(404);
        as(cookie, "alpha", "PUT", "/v1/projects/beta/settings", "{\"allowAdHocUrls\":false}")
                .requireStatus(404);
        // Without the header, the only project is meant.
        assertThat(as(cookie, "", "GET", "/v1/session", null).at("/project")).isEqualTo("alpha");
        assertThat(SERVER.get(beta, "/v1/members/" + other).requireStatus(200).at("/role"))
                .isEqualTo("admin");
    }

    @Test
    void a_user_of_several_projects_names_one_and_lists_the_own_ones() {
        add(alpha, "both", "viewer");
        add(beta, "both", "operator");
        String cookie = logIn("both");

        assertThat(as(cookie, "", "GET", "/v1/runs", null).requireStatus(400).code())
                .isEqualTo("project-missing");
        RestTestServer.Reply session =
                as(cookie, "beta", "GET", "/v1/session", null).requireStatus(200);
        assertThat(session.at("/scopes/0")).isEqualTo("manage");
        assertThat(session.at("/projects/0/name") + session.at("/projects/0/role"))
                .isEqualTo("alphaviewer");
        RestTestServer.Reply projects =
                as(cookie, "alpha", "GET", "/v1/projects", null).requireStatus(200);
        assertThat(projects.json().path("items")).hasSize(2);
        assertThat(projects.at("/items/1/name")).isEqualTo("beta");
        assertThat(projects.at("/items/0/id")).startsWith("prj_");
    }

    @Test
    void a_removed_member_loses_access_and_open_streams_within_seconds() throws Exception {
        String id = add(alpha, "removed", "operator");
        String cookie = logIn("removed");
        CompletableFuture<String> stream = endOfStream(cookie);
        String lowered = add(alpha, "less", "admin");
        CompletableFuture<String> streamOfAdmin = endOfStream(logIn("less"));
        as(cookie, "alpha", "GET", "/v1/runs", null).requireStatus(200);

        SERVER.delete(alpha, "/v1/members/" + id).requireStatus(204);
        SERVER.put(alpha, "/v1/members/" + lowered, "{\"role\":\"viewer\"}").requireStatus(200);

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(
                                as(cookie, "alpha", "GET", "/v1/runs", null).status())
                        .isEqualTo(403));
        assertThat(as(cookie, "alpha", "GET", "/v1/session", null)
                        .requireStatus(200)
                        .json()
                        .has("project"))
                .isFalse();
        assertThat(stream.get(30, TimeUnit.SECONDS)).isEqualTo("event: stream.ended");
        // A viewer may read a stream, but not the changes of keys that the stream of an admin has.
        assertThat(streamOfAdmin.get(30, TimeUnit.SECONDS)).isEqualTo("event: stream.ended");
    }

    /** Opens an event stream and returns the line that ends it. */
    private static CompletableFuture<String> endOfStream(String cookie) {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + SERVER.server().port() + "/v1/stream"))
                .header("Cookie", cookie)
                .build();
        HttpResponse<Stream<String>> response = HttpClient.newHttpClient()
                .sendAsync(request, HttpResponse.BodyHandlers.ofLines())
                .join();
        assertThat(response.statusCode()).isEqualTo(200);
        return CompletableFuture.supplyAsync(() -> {
            try (Stream<String> lines = response.body()) {
                return lines.filter(line -> line.contains("stream.ended"))
                        .findFirst()
                        .orElse("closed");
            }
        });
    }

    @Test
    void a_removed_admin_gives_no_access_although_the_node_does_not_know_it_yet() {
        String id = add(alpha, "quick", "admin");
        String cookie = logIn("quick");
        as(cookie, "alpha", "GET", "/v1/keys", null).requireStatus(200);

        // The node keeps what it knows for three seconds; the database is asked again before access is given.
        SERVER.database()
                .execute("DELETE FROM carillon.project_member m USING carillon.app_user u"
                        + " WHERE u.id = m.user_id AND u.subject = 'quick'");

        as(cookie, "alpha", "POST", "/v1/keys", "{\"name\":\"stay\",\"scopes\":[\"admin\"]}")
                .requireStatus(403);
        as(cookie, "alpha", "POST", "/v1/members", "{\"subject\":\"friend\",\"role\":\"admin\"}")
                .requireStatus(403);
        as(cookie, "alpha", "POST", "/v1/members", "{\"user\":\"%s\",\"role\":\"admin\"}".formatted(id))
                .requireStatus(403);
        assertThat(SERVER.get(alpha, "/v1/keys").text()).doesNotContain("stay");
    }

    @Test
    void a_role_that_was_lowered_gives_no_access() {
        String id = add(alpha, "lowered", "admin");
        String cookie = logIn("lowered");
        as(cookie, "alpha", "GET", "/v1/keys", null).requireStatus(200);
        SERVER.put(alpha, "/v1/members/" + id, "{\"role\":\"viewer\"}").requireStatus(200);

        as(cookie, "alpha", "POST", "/v1/keys", "{\"name\":\"kept\",\"scopes\":[\"admin\"]}")
                .requireStatus(403);
    }

    @Test
    void the_only_admin_stays_unless_a_key_removes_the_user() {
        String gamma = SERVER.createProject("gamma");
        String id = add(gamma, "only", "admin");
        String cookie = logIn("only");

        assertThat(as(cookie, "gamma", "DELETE", "/v1/members/" + id, null)
                        .requireStatus(409)
                        .code())
                .isEqualTo("last-admin");
        as(cookie, "gamma", "PUT", "/v1/members/" + id, "{\"role\":\"viewer\"}").requireStatus(409);
        as(cookie, "gamma", "POST", "/v1/members", "{\"subject\":\"second\",\"role\":\"admin\"}")
                .requireStatus(201);
        as(cookie, "gamma", "DELETE", "/v1/members/" + id, null).requireStatus(204);
        SERVER.delete(gamma, "/v1/members/" + SERVER.get(gamma, "/v1/members").at("/items/0/id"))
                .requireStatus(204);
    }

    @Test
    void a_project_belongs_to_a_user_who_administers_it() {
        String user = add(alpha, "owner", "viewer");
        SERVER.post(SERVER.bootstrap(), "/v1/projects", "{\"name\":\"owned\",\"owner\":\"ann@example.com\"}")
                .requireStatus(422);
        RestTestServer.Reply made = SERVER.post(
                        SERVER.bootstrap(), "/v1/projects", "{\"name\":\"owned\",\"owner\":\"%s\"}".formatted(user))
                .requireStatus(201);
        assertThat(made.at("/owner")).isEqualTo(user);
        String cookie = logIn("owner");
        assertThat(as(cookie, "owned", "GET", "/v1/projects/owned", null)
                        .requireStatus(200)
                        .at("/ownerName"))
                .isEqualTo("Name of owner");
        as(cookie, "owned", "GET", "/v1/keys", null).requireStatus(200);
        assertThat(SERVER.delete(made.at("/key"), "/v1/members/" + user)
                        .requireStatus(409)
                        .code())
                .isEqualTo("member-owns-project");
        String heir = add(made.at("/key"), "heir", "viewer");
        as(cookie, "owned", "PUT", "/v1/projects/owned/settings", "{\"owner\":\"%s\"}".formatted(heir))
                .requireStatus(200);
        SERVER.delete(made.at("/key"), "/v1/members/" + user).requireStatus(204);
        assertThat(SERVER.get(made.at("/key"), "/v1/members/" + heir).at("/role"))
                .isEqualTo("admin");
    }

    @Test
    void an_admin_sees_no_name_of_a_user_who_has_not_used_the_project() {
        String cookie = logIn("private");
        String id = add(alpha, "private", "viewer");

        RestTestServer.Reply added = SERVER.get(alpha, "/v1/members/" + id).requireStatus(200);
        assertThat(added.at("/subject")).isEqualTo("private");
        assertThat(added.text() + SERVER.get(alpha, "/v1/members").text()).doesNotContain("Name of private");
        assertThat(added.json().has("loginAt")).isFalse();

        as(cookie, "alpha", "GET", "/v1/runs", null).requireStatus(200);

        RestTestServer.Reply used = SERVER.get(alpha, "/v1/members/" + id).requireStatus(200);
        assertThat(used.at("/name")).isEqualTo("Name of private");
        assertThat(used.json().has("loginAt")).isTrue();
    }

    @Test
    void a_user_leaves_a_project_and_a_membership_that_is_not_used_changes_nothing() {
        String id = add(beta, "forced", "viewer");
        as(logIn("forced"), "beta", "GET", "/v1/runs", null).requireStatus(200);
        String colleague = add(alpha, "colleague", "viewer");
        add(alpha, "forced", "viewer");
        String cookie = logIn("forced");

        assertThat(as(cookie, "", "GET", "/v1/session", null).at("/project")).isEqualTo("beta");
        as(cookie, "alpha", "DELETE", "/v1/members/" + colleague, null).requireStatus(403);
        as(cookie, "alpha", "DELETE", "/v1/members/" + id, null).requireStatus(204);
        SERVER.get(alpha, "/v1/members/" + id).requireStatus(404);
        SERVER.get(beta, "/v1/members/" + id).requireStatus(200);
        String reader = SERVER.createKeyAs(alpha, "read");
        SERVER.delete(reader, "/v1/members/" + colleague).requireStatus(403);
    }

    @Test
    void a_user_who_is_refused_is_not_stored() {
        String full = SERVER.createProject("full");
        SERVER.database()
                .execute("WITH u AS (INSERT INTO carillon.app_user (id, issuer, subject)"
                        + " SELECT gen_random_uuid(), 'i', 'full-' || n FROM generate_series(1, 1000) n RETURNING id)"
                        + " INSERT INTO carillon.project_member (project, user_id, role, created_by)"
                        + " SELECT 'full', id, 'viewer', 'test' FROM u");

        assertThat(SERVER.post(full, "/v1/members", "{\"subject\":\"surplus\",\"role\":\"viewer\"}")
                        .requireStatus(409)
                        .code())
                .isEqualTo("too-many-members");
        assertThat(SERVER.query("SELECT count(*) FROM carillon.app_user WHERE subject = 'surplus'")
                        .number())
                .isZero();
    }

    @Test
    void users_are_added_by_subject_or_id_once() {
        String id = add(alpha, "added", "viewer");
        assertThat(SERVER.post(alpha, "/v1/members", "{\"subject\":\"added\",\"role\":\"admin\"}")
                        .requireStatus(409)
                        .code())
                .isEqualTo("member-exists");
        SERVER.post(beta, "/v1/members", "{\"user\":\"%s\",\"role\":\"viewer\"}".formatted(id))
                .requireStatus(201);
        for (String wrong : new String[] {
            "{\"role\":\"viewer\"}",
            "{\"subject\":\"a\",\"user\":\"%s\",\"role\":\"viewer\"}".formatted(id),
            "{\"subject\":\"\",\"role\":\"viewer\"}",
            "{\"subject\":\"a\",\"role\":\"root\"}",
            "{\"user\":\"usr_00000000000000000000000000\",\"role\":\"viewer\"}",
            "{\"subject\":\"a\",\"role\":\"viewer\",\"issuer\":\"https://other.example\"}"
        }) SERVER.post(alpha, "/v1/members", wrong).requireStatus(422);
        assertThat(SERVER.get(alpha, "/v1/audit?action=member.add").text()).contains("member/" + id, "viewer");
        assertThat(SERVER.get(alpha, "/v1/members?limit=1").json().has("next")).isTrue();
    }
}
