package io.carillon.cli.dev;

import io.carillon.cli.shell.Secrets;
import io.carillon.seal.Keyring;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import io.carillon.webhook.guard.GuardPolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Stream;

/** Webhooks of the development node: secrets sealed with a key beside the data, and a receiver on this machine, which they may call for once. */
final class DevWebhooks {
    /** Where the receiver is. */
    static final String ECHO = "/echo";

    private static final List<String> TOLD =
            List.of("webhook-id", "webhook-timestamp", "webhook-signature", "carillon-attempt", "carillon-planned-at");

    private DevWebhooks() {}

    static ServerWebhooks on(DevDatabase database, DevOptions options) {
        if (!Files.exists(options.masterKeys())) Secrets.write(options.masterKeys(), Keyring.newKey("dev") + "\n");
        return ServerWebhooks.on(database.pool())
                .keys(Keyring.fromFile(options.masterKeys()))
                // Who develops calls what they develop.
                .guard(GuardPolicy.defaults().allow("127.0.0.0/8", "::1/128"))
                .build()
                .check();
    }

    /** Answers with what it was sent, for everybody on this machine. */
    static List<Route> echo() {
        return Stream.of("GET", "POST", "PUT", "PATCH", "DELETE")
                .map(method -> new Route(method, ECHO, Permission.PUBLIC, java.util.Set.of(), DevWebhooks::answer))
                .toList();
    }

    private static Answer answer(Call call) {
        Doc headers = new Doc();
        TOLD.forEach(name -> headers.put(name, call.header(name).orElse(null)));
        return Answer.ok(new Doc()
                .put("method", call.route().method())
                .put("headers", headers)
                .put("body", new String(call.body(), StandardCharsets.UTF_8)));
    }
}
