package io.carillon.webhook;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.webhook.guard.GuardPolicy;
import io.carillon.webhook.guard.Resolver;
import io.carillon.webhook.hosts.HostLimits;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import javax.net.ssl.SSLContext;

/** Collects what webhooks need; {@link #build()} makes them. */
public final class WebhooksBuilder {
    GuardPolicy guard = GuardPolicy.defaults();
    Resolver resolver = Resolver.system();
    HostLimits hosts = HostLimits.defaults();
    SecretSource secrets = SecretSource.none();
    DeliveryListener listener = (envelope, target, delivery) -> {};
    Duration longestPause = Duration.ofHours(1);
    SSLContext tls = defaultTls();

    WebhooksBuilder() {}

    /** Where webhooks may go: public addresses on the usual ports unless set. */
    public WebhooksBuilder guard(GuardPolicy policy) {
        this.guard = policy;
        return this;
    }

    /** Who resolves names: the machine unless set. What it answers is checked all the same. */
    public WebhooksBuilder resolver(Resolver resolver) {
        this.resolver = resolver;
        return this;
    }

    /** How hard this node presses one host. */
    public WebhooksBuilder hosts(HostLimits limits) {
        this.hosts = limits;
        return this;
    }

    /** Where the secrets come from that webhooks name. */
    public WebhooksBuilder secrets(SecretSource source) {
        this.secrets = source;
        return this;
    }

    /** Hears of deliveries. */
    public WebhooksBuilder listener(DeliveryListener listener) {
        this.listener = listener;
        return this;
    }

    /** The longest pause a receiver may ask for; an hour unless set. */
    public WebhooksBuilder longestPause(Duration atMost) {
        if (atMost.isNegative() || atMost.isZero())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "The longest pause %s is none. Choose longer.".formatted(atMost));
        this.longestPause = atMost;
        return this;
    }

    /** Which certificates are trusted: those of the JDK unless set. */
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
            throw new IllegalStateException("every JDK has TLS", missing);
        }
    }
}
