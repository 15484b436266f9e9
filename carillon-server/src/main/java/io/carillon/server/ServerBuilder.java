package io.carillon.server;

import io.carillon.Carillon;
import io.carillon.server.access.Tokens;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.http.Route;
import io.carillon.server.store.HouseRepository;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** Collects how a server listens and what it lets pass; {@link #start()} opens the door. */
public final class ServerBuilder {
    private static final double REQUESTS_PER_SECOND = 1_000;

    final Carillon carillon;
    final DataSource dataSource;
    InetAddress address = InetAddress.getLoopbackAddress();
    int port = 8080;
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    HouseRepository.Quota quota = new HouseRepository.Quota(REQUESTS_PER_SECOND, null, null);
    Optional<Tokens> tokens = Optional.empty();
    List<Route> more = List.of();
    Duration auditKept = Duration.ofDays(365);
    Optional<ServerWebhooks> webhooks = Optional.empty();

    ServerBuilder(Carillon carillon, DataSource dataSource) {
        this.carillon = carillon;
        this.dataSource = dataSource;
    }

    /** Where to listen: the loopback address and port 8080 unless set; port 0 takes any that is free. Others are refused until somebody has made a key of their own. */
    public ServerBuilder listen(String host, int port) {
        try {
            this.address = InetAddress.getByName(host);
        } catch (UnknownHostException unknown) {
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "There is no address '%s' to listen on. Use an IP address or a name of this machine."
                            .formatted(host),
                    unknown);
        }
        this.port = port;
        return this;
    }

    /** Where the server's meters go and what {@code /metrics} shows; give it to {@code CarillonMeters} as well to see the engine's. */
    public ServerBuilder registry(PrometheusMeterRegistry registry) {
        this.registry = registry;
        return this;
    }

    /** How much projects may use that have no quota of their own: requests a second on each node, schedules, and runs that wait or run. */
    public ServerBuilder quota(HouseRepository.Quota quota) {
        this.quota = quota;
        return this;
    }

    /** Accepts tokens of somebody else besides keys. */
    public ServerBuilder tokens(Tokens tokens) {
        this.tokens = Optional.of(tokens);
        return this;
    }

    /** How long lines of the audit log are kept; a year unless set. */
    public ServerBuilder auditKept(Duration kept) {
        if (kept.compareTo(Duration.ofDays(1)) < 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The audit log cannot be kept for %s only. Choose a day or more.".formatted(kept));
        this.auditKept = kept;
        return this;
    }

    /** Routes of others, beside those of the product. */
    public ServerBuilder routes(List<Route> routes) {
        this.more = List.copyOf(routes);
        return this;
    }

    /** How webhooks are sent by hand, and where their secrets are; give the same to the builder of the Carillon by {@link ServerWebhooks#handleOn}. */
    public ServerBuilder webhooks(ServerWebhooks webhooks) {
        this.webhooks = Optional.of(webhooks);
        return this;
    }

    /** Listens from now on. */
    public CarillonServer start() {
        return new CarillonServer(this);
    }
}
