package io.carillon.webhook;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.guard.Resolver;
import io.carillon.webhook.hosts.HostLimits;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/** The settings of {@link Webhooks}. */
public final class WebhooksBuilder {
    AddressPolicy addressPolicy = AddressPolicy.defaults();
    Resolver resolver = Resolver.system();
    HostLimits hostLimits = HostLimits.defaults();
    private final Map<String, Endpoint> fixedEndpoints = new LinkedHashMap<>();
    private EndpointSource endpoints = EndpointSource.none();
    DeliveryListener listener = (deliveryMetadata, target, delivery) -> {};
    Duration maxPause = Duration.ofHours(1);
    Duration manualTimeout = Duration.ofSeconds(60);
    SSLContext tls = defaultTls();

    WebhooksBuilder() {}

    /** Sets the addresses that webhooks may connect to. Default: public addresses on the usual HTTP ports. */
    public WebhooksBuilder addressPolicy(AddressPolicy policy) {
        this.addressPolicy = policy;
        return this;
    }

    /**
     * Sets the resolver of host names. Default: the resolver of the operating system. The resolved addresses
     * are always checked.
     */
    public WebhooksBuilder resolver(Resolver resolver) {
        this.resolver = resolver;
        return this;
    }

    /** Sets the limits of requests from this node to one host. */
    public WebhooksBuilder hostLimits(HostLimits limits) {
        this.hostLimits = limits;
        return this;
    }

    /** Adds an endpoint that the webhooks of all projects can name. */
    public WebhooksBuilder endpoint(Endpoint endpoint) {
        if (fixedEndpoints.putIfAbsent(endpoint.name(), endpoint) != null)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Two endpoints are named '%s'. Names of endpoints must be unique.".formatted(endpoint.name()));
        return this;
    }

    /**
     * Sets the source of the endpoints that were not added with {@link #endpoint}. It also decides whether webhooks of
     * a project may call other URLs. Default: no further endpoints, all URLs allowed.
     */
    public WebhooksBuilder endpoints(EndpointSource source) {
        this.endpoints = source;
        return this;
    }

    EndpointSource endpointSource() {
        Map<String, Endpoint> fixed = Map.copyOf(fixedEndpoints);
        EndpointSource others = endpoints;
        return new EndpointSource() {
            @Override
            public Optional<Endpoint> find(String project, String name) {
                return Optional.ofNullable(fixed.get(name)).or(() -> others.find(project, name));
            }

            @Override
            public boolean allowsAdHocUrls(String project) {
                return others.allowsAdHocUrls(project);
            }
        };
    }

    /** Sets the listener that is called for each delivery. */
    public WebhooksBuilder listener(DeliveryListener listener) {
        this.listener = listener;
        return this;
    }

    /** Sets the longest pause that a receiver can request; longer ones are shortened to it. Default: 1 hour. */
    public WebhooksBuilder maxPause(Duration atMost) {
        if (atMost.isNegative() || atMost.isZero())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "maxPause must be greater than 0 (was %s).".formatted(atMost));
        this.maxPause = atMost;
        return this;
    }

    /** Sets the longest duration of a test or replay. Default: the timeout of the target, at most 60 seconds. */
    public WebhooksBuilder manualTimeout(Duration atMost) {
        if (atMost.isNegative() || atMost.isZero())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "manualTimeout must be greater than 0 (was %s).".formatted(atMost));
        this.manualTimeout = atMost;
        return this;
    }

    /** Sets the TLS context, which determines the trusted certificates. Default: the certificates of the JDK. */
    public WebhooksBuilder tls(SSLContext context) {
        this.tls = context;
        return this;
    }

    public Webhooks build() {
        return new Webhooks(this);
    }

    private static SSLContext defaultTls() {
        try {
            return SSLContext.getDefault();
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("TLS is missing in this JDK", missing);
        }
    }
}
