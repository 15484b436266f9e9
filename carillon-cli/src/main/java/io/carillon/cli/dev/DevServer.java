package io.carillon.cli.dev;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.cli.config.Address;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.server.CarillonServer;
import io.carillon.server.ServerBuilder;
import io.carillon.server.hooks.ServerWebhooks;
import java.net.BindException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The REST API of the development node. The first API key is stored beside the data for later starts
 * and other commands.
 */
final class DevServer implements AutoCloseable {
    private static final Address DEFAULT_ADDRESS = new Address("127.0.0.1", 8080);
    private static final Pattern UNQUOTED = Pattern.compile("[A-Za-z0-9_./-]+");

    private final CarillonServer server;
    private final String host;
    private final DevOptions options;

    private DevServer(CarillonServer server, String host, DevOptions options) {
        this.server = server;
        this.host = host;
        this.options = options;
    }

    static DevServer start(Carillon carillon, ServerWebhooks webhooks, DevDatabase database, DevOptions options) {
        Address address = options.listen().orElse(DEFAULT_ADDRESS);
        CarillonServer server;
        try {
            server = listen(builder(carillon, webhooks, database, options), address);
        } catch (CarillonException taken) {
            if (options.listen().isPresent() || !isPortTaken(taken)) throw taken;
            server = listen(builder(carillon, webhooks, database, options), new Address(address.host(), 0));
        }
        return new DevServer(server, address.host(), options);
    }

    private static ServerBuilder builder(
            Carillon carillon, ServerWebhooks webhooks, DevDatabase database, DevOptions options) {
        return CarillonServer.on(carillon, database.requests())
                .onBootstrapKey(key -> SecretFiles.write(options.key(), key + "\n"))
                .webhooks(webhooks)
                .routes(DevWebhooks.echoRoutes());
    }

    private static CarillonServer listen(ServerBuilder builder, Address address) {
        return builder.listen(address.host(), address.port()).start();
    }

    private static boolean isPortTaken(CarillonException failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause())
            if (cause instanceof BindException) return true;
        return false;
    }

    StartupBanner.RestInfo restInfo() {
        String url = "http://%s:%d".formatted(host.contains(":") ? "[" + host + "]" : host, server.port());
        if (!Files.exists(options.key()))
            return new StartupBanner.RestInfo(
                    url,
                    echoUrl(url),
                    List.of("curl " + url + "/healthz  (this database already has API keys; use one of them)"));
        String key = quoted(options.key().toString());
        String access = (url.equals("http://127.0.0.1:8080") ? "" : " --url " + url) + " --key-file " + key;
        List<String> tries = new ArrayList<>();
        tries.add("curl -H \"Authorization: Bearer $(cat %s)\" %s/v1/schedules".formatted(key, url));
        if (options.demo())
            tries.add("./carillon schedule create my.hello --every 10s --handler demo.hello "
                    + "--payload '{\"text\":\"Hello again\"}'"
                    + access);
        tries.add("./carillon schedule create my.hook --every 10s --webhook %s --payload '{\"text\":\"Hello\"}'"
                        .formatted(echoUrl(url))
                + access);
        return new StartupBanner.RestInfo(url, echoUrl(url), tries);
    }

    private static String echoUrl(String url) {
        return url + DevWebhooks.ECHO_PATH;
    }

    static String quoted(String path) {
        return UNQUOTED.matcher(path).matches() ? path : "'" + path.replace("'", "'\\''") + "'";
    }

    @Override
    public void close() {
        server.close();
    }
}
