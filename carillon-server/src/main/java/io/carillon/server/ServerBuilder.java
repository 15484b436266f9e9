package io.carillon.server;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.TextCleaner;
import io.carillon.server.access.BearerTokenVerifier;
import io.carillon.server.access.BoundedHttp;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.http.RequestDispatcher;
import io.carillon.server.http.Route;
import io.carillon.server.login.OidcSettings;
import io.carillon.server.store.ProjectRepository;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** The settings of a {@link CarillonServer}; {@link #start()} starts it. */
public final class ServerBuilder {
    private static final int DEFAULT_CONNECTIONS_PER_ADDRESS = 256;

    final Carillon carillon;
    final DataSource dataSource;
    InetAddress address = InetAddress.getLoopbackAddress();
    String listenHost = "localhost";
    int port = 8080;
    List<String> allowedHosts = List.of();
    int maxConnectionsPerAddress = DEFAULT_CONNECTIONS_PER_ADDRESS;
    long bodyMemory = RequestDispatcher.defaultBodyMemory();
    Duration bodyGrace = Duration.ofSeconds(5);
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    ProjectRepository.Quota quota = ProjectRepository.Quota.DEFAULT;
    Optional<BearerTokenVerifier> tokenVerifier = Optional.empty();
    List<Route> extraRoutes = List.of();
    Duration auditRetention = Duration.ofDays(365);
    Optional<ServerWebhooks> webhooks = Optional.empty();
    Optional<Duration> maxKeyLifetime = Optional.empty();
    boolean requireRowSecurity;
    Optional<OidcSettings> provider = Optional.empty();
    Optional<URI> publicUrl = Optional.empty();
    boolean readOnly;
    Consumer<String> bootstrapKeyConsumer = key -> {};

    ServerBuilder(Carillon carillon, DataSource dataSource) {
        this.carillon = carillon;
        this.dataSource = dataSource;
    }

    /**
     * Sets the address and port to listen on. Default: the loopback address and port 8080; port 0 selects a free port.
     * The server refuses any other address until an API key other than the bootstrap key exists.
     */
    public ServerBuilder listen(String host, int port) {
        try {
            this.address = InetAddress.getByName(host);
        } catch (UnknownHostException unknown) {
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Unknown listen address \"%s\". Use an IP address or a host name of this machine.".formatted(host),
                    unknown);
        }
        this.listenHost = host;
        this.port = port;
        return this;
    }

    /**
     * Sets further host names that the server answers for, without a port; {@code *} allows all. Default: none. IP
     * addresses, {@code localhost} and the host of {@link #listen} are always allowed. A request for another name gets
     * status 421.
     */
    public ServerBuilder allowedHosts(List<String> names) {
        this.allowedHosts = List.copyOf(names);
        return this;
    }

    /**
     * Sets the maximum number of connections from one client address; further ones are closed. Default: 256; 0 means no
     * limit. Clients behind a proxy share its address.
     */
    public ServerBuilder maxConnectionsPerAddress(int connections) {
        if (connections < 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "maxConnectionsPerAddress must be at least 0 (was %d).".formatted(connections));
        this.maxConnectionsPerAddress = connections;
        return this;
    }

    /**
     * Sets the registry that holds the server's meters and that {@code /metrics} shows. Give the same registry to
     * {@code CarillonMeters} to include the engine's meters.
     */
    public ServerBuilder registry(PrometheusMeterRegistry registry) {
        this.registry = registry;
        return this;
    }

    /**
     * Sets the quota of projects that have none of their own. Default: {@link ProjectRepository.Quota#DEFAULT}. A part
     * that is null means no limit.
     */
    public ServerBuilder quota(ProjectRepository.Quota quota) {
        this.quota = quota;
        return this;
    }

    /** Also accepts bearer tokens of another issuer, in addition to API keys. */
    public ServerBuilder tokenVerifier(BearerTokenVerifier verifier) {
        this.tokenVerifier = Optional.of(verifier);
        return this;
    }

    /** Sets how long entries of the audit log are kept. At least one day; default: 365 days. */
    public ServerBuilder auditRetention(Duration retention) {
        if (retention.compareTo(Duration.ofDays(1)) < 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "auditRetention must be at least 1 day (was %s).".formatted(retention));
        this.auditRetention = retention;
        return this;
    }

    /**
     * Sets the longest lifetime of new API keys. A key without a requested expiry gets this one. At least one hour;
     * default: no limit.
     */
    public ServerBuilder maxKeyLifetime(Duration lifetime) {
        if (lifetime.compareTo(Duration.ofHours(1)) < 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "maxKeyLifetime must be at least 1 hour (was %s).".formatted(lifetime));
        this.maxKeyLifetime = Optional.of(lifetime);
        return this;
    }

    /**
     * Sets whether the server refuses to start if PostgreSQL does not separate projects by row-level security. Default:
     * false; the server then logs a warning.
     */
    public ServerBuilder requireRowSecurity(boolean required) {
        this.requireRowSecurity = required;
        return this;
    }

    /**
     * Lets users log in to the dashboard with this identity provider, in addition to API keys. Unless the server is
     * reachable from this machine only, {@link #publicUrl} is required.
     */
    public ServerBuilder provider(OidcSettings settings) {
        this.provider = Optional.of(settings);
        return this;
    }

    /**
     * Sets the address of this server for browsers, with the path prefix of a proxy if there is one, such as {@code
     * https://carillon.example}. Its host becomes an allowed one.
     */
    public ServerBuilder publicUrl(URI url) {
        if (!isPublicUrl(url))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "publicUrl must be a URL with https, or http on this machine, such as https://carillon.example (was"
                            + " %s).".formatted(TextCleaner.clean(url.toString(), 200)));
        this.publicUrl = Optional.of(url);
        return this;
    }

    /** Returns whether this is a URL at which browsers keep a session: its cookie is sent over TLS or locally only. */
    public static boolean isPublicUrl(URI url) {
        return BoundedHttp.isAllowed(url)
                && url.getRawQuery() == null
                && url.getRawFragment() == null
                && url.getRawUserInfo() == null;
    }

    /** Sets whether the server refuses every request that changes something. Default: false. */
    public ServerBuilder readOnly(boolean refusesChanges) {
        this.readOnly = refusesChanges;
        return this;
    }

    /** Returns the host names that the server answers for, in addition to its own. */
    List<String> allNames() {
        List<String> names = new ArrayList<>(allowedHosts);
        publicUrl
                .map(URI::getHost)
                .filter(host -> !host.matches("[0-9.]+|\\[.*"))
                .ifPresent(names::add);
        return names;
    }

    /**
     * Sets the action that stores the bootstrap key, which the first start on a database creates. It runs before the
     * transaction commits: if it throws, the server does not start, and the next start creates another key.
     */
    public ServerBuilder onBootstrapKey(Consumer<String> consumer) {
        this.bootstrapKeyConsumer = consumer;
        return this;
    }

    /** Adds routes to those of Carillon. */
    public ServerBuilder routes(List<Route> routes) {
        this.extraRoutes = List.copyOf(routes);
        return this;
    }

    /**
     * Sets the webhooks that this server sends for tests and replays, and the store of their endpoints. Register the
     * same object on the Carillon with {@link ServerWebhooks#handleOn}. Default: webhooks without a master key.
     */
    public ServerBuilder webhooks(ServerWebhooks webhooks) {
        this.webhooks = Optional.of(webhooks);
        return this;
    }

    /** Starts a server with these settings. */
    public CarillonServer start() {
        return new CarillonServer(this);
    }
}
