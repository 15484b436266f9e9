package io.carillon.cli.dev;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.cli.config.Address;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.server.CarillonServer;
import io.carillon.server.ServerBuilder;
import io.carillon.server.hooks.ServerWebhooks;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.BindException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

    static DevServer start(
            Carillon carillon,
            ServerWebhooks webhooks,
            DevDatabase database,
            PrometheusMeterRegistry registry,
            DevOptions options) {
        Address address = options.listen().orElse(DEFAULT_ADDRESS);
        CarillonServer server;
        try {
            server = listen(builder(carillon, webhooks, database, options).registry(registry), address);
        } catch (CarillonException taken) {
            if (options.listen().isPresent() || !isPortTaken(taken)) throw taken;
            server = listen(
                    builder(carillon, webhooks, database, options).registry(registry), new Address(address.host(), 0));
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

    String url() {
        return "http://%s:%d".formatted(host.contains(":") ? "[" + host + "]" : host, server.port());
    }

    /**
     * Returns what to try with the server.
     *
     * @param interactive whether the text is shown on a terminal, so that it may contain a login link; it must not get
     *     into a log
     * @param profile the text about the profile; without a profile, the commands name the address and the key
     */
    StartupBanner.RestInfo restInfo(Optional<String> profile, boolean interactive) {
        String url = url();
        if (!Files.exists(options.key()))
            return new StartupBanner.RestInfo(
                    url,
                    new StartupBanner.Dashboard(url + "/ui", "", url + "/ui"),
                    echoUrl(url),
                    "",
                    List.of("curl " + url + "/healthz  (this database already has API keys; use one of them)"));
        String key = quoted(options.key().toString());
        String access = profile.isPresent() ? "" : " --url %s --key-file %s".formatted(url, key);
        List<String> tries = new ArrayList<>();
        tries.add("curl -H \"Authorization: Bearer $(cat %s)\" %s/v1/schedules".formatted(key, url));
        if (options.demo())
            tries.add(Program.name() + " schedule create my.hello --every 10s --handler demo.hello" + access);
        tries.add(
                "%s schedule create my.hook --every 10s --webhook %s".formatted(Program.name(), echoUrl(url)) + access);
        tries.add(Program.name() + " run list" + access);
        tries.add(Program.name() + " schedule timeline --around 5m" + access);
        return new StartupBanner.RestInfo(url, dashboard(url, interactive), echoUrl(url), profile.orElse(""), tries);
    }

    private StartupBanner.Dashboard dashboard(String url, boolean interactive) {
        String withKey = "log in with the key in " + quoted(options.key().toString());
        String later = "%s/ui  (%s)".formatted(url, withKey);
        if (!interactive) return new StartupBanner.Dashboard(url + "/ui", withKey, later);
        String bearer = SecretFiles.read("the API key", options.key().toString());
        return new StartupBanner.Dashboard(server.loginLink(url, bearer), "logs in, once, within 10 minutes", later);
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
