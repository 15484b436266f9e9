package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code carillon member}: users are added to the project, get other roles, and are removed. */
class MemberCommandsTest {
    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    private static RemoteServer.CommandResult run(String... words) {
        RemoteServer.CommandResult result = SERVER.run(words);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result;
    }

    @Test
    void a_user_is_added_by_subject_gets_another_role_and_is_removed() {
        String id = run("member", "add", "--subject", "ann", "--role", "viewer", "-o", "name")
                .out()
                .strip();
        assertThat(id).startsWith("usr_");
        assertThat(run("member", "list").out()).contains(id, "viewer", "ann");

        assertThat(run("member", "update", id, "--role", "operator").out()).contains("operator");

        assertThat(run("member", "get", id, "-o", "json").json().path("role").stringValue())
                .isEqualTo("operator");
        assertThat(run("member", "get", id, "-o", "json").json().path("issuer").stringValue())
                .isEqualTo(RemoteServer.ISSUER);
        run("member", "remove", id);
        assertThat(SERVER.run("member", "get", id).exitCode()).isEqualTo(3);
    }

    @Test
    void a_user_owns_a_project_and_is_added_to_another_by_id() {
        String id = run("member", "add", "--subject", "owner", "--role", "viewer", "-o", "name")
                .out()
                .strip();
        String key = run("project", "create", "acme", "--owner", id, "-o", "json")
                .json()
                .path("key")
                .stringValue();
        Map<String, String> acme = Map.of("CARILLON_URL", SERVER.url(), "CARILLON_KEY", key);
        assertThat(SERVER.runWith(acme, "member", "list").out()).contains(id, "admin");
        assertThat(SERVER.runWith(acme, "member", "remove", id).err()).contains("owns the project");
        String heir = run("member", "add", "--subject", "heir", "--role", "viewer", "-o", "name")
                .out()
                .strip();
        assertThat(SERVER.runWith(acme, "member", "add", "--user", heir, "--role", "viewer")
                        .exitCode())
                .isZero();
        run("project", "settings", "acme", "--owner", heir);
        assertThat(SERVER.runWith(acme, "member", "remove", id).exitCode()).isZero();
        assertThat(SERVER.runWith(acme, "project", "list").out())
                .contains("acme", "heir")
                .doesNotContain("default");
    }

    @Test
    void words_that_the_server_would_refuse_are_refused_with_the_allowed_ones() {
        assertThat(SERVER.run("member", "add", "--subject", "x", "--role", "root")
                        .err())
                .contains("viewer", "operator", "admin");
        assertThat(SERVER.run("member", "add", "--role", "viewer").err()).contains("--subject or --user");
        assertThat(SERVER.run("member", "add", "--subject", "x", "--user", "y", "--role", "viewer")
                        .exitCode())
                .isEqualTo(2);
        assertThat(SERVER.run("project", "settings", "default").err()).contains("--ad-hoc-urls or --owner");
    }
}
