package io.carillon.cli.dev;

import io.carillon.cli.shell.SecretFiles;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import io.carillon.spi.Keyring;
import io.carillon.webhook.guard.AddressPolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Stream;

/**
 * The webhooks of the development node. A key beside the data encrypts their secrets, and they may call this machine,
 * where an echo receiver answers them.
 */
final class DevWebhooks {
    /** The path of the echo receiver. */
    static final String ECHO_PATH = "/echo";

    private static final List<String> SHOWN_HEADERS =
            List.of("webhook-id", "webhook-timestamp", "webhook-signature", "carillon-attempt", "carillon-planned-at");

    private DevWebhooks() {}

    static ServerWebhooks on(DevDatabase database, DevOptions options) {
        if (!Files.exists(options.masterKeys())) SecretFiles.write(options.masterKeys(), Keyring.newKey("dev") + "\n");
        return ServerWebhooks.on(database.pool())
                .keys(Keyring.fromFile(options.masterKeys()))
                // Developers call services on their own machine.
                .guard(AddressPolicy.defaults().allow("127.0.0.0/8", "::1/128"))
                .build()
                .checkSecrets();
    }

    /** Returns the routes of the echo receiver, which answers with the request and needs no API key. */
    static List<Route> echoRoutes() {
        return Stream.of("GET", "POST", "PUT", "PATCH", "DELETE")
                .map(method -> new Route(
                                method, ECHO_PATH, Permission.PUBLIC, java.util.Set.of(), DevWebhooks::echoRequest)
                        .withMaxBodyBytes(Route.MAX_BODY_BYTES))
                .toList();
    }

    private static ApiResponse echoRequest(ApiRequest request) {
        JsonObject headers = new JsonObject();
        SHOWN_HEADERS.forEach(name -> headers.put(name, request.header(name).orElse(null)));
        return ApiResponse.ok(new JsonObject()
                .put("method", request.route().method())
                .put("headers", headers)
                .put("body", new String(request.body(), StandardCharsets.UTF_8)));
    }
}
