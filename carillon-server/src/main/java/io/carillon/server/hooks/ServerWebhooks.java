package io.carillon.server.hooks;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.Transactions;
import io.carillon.server.store.WebhookRunRepository;
import io.carillon.spi.Keyring;
import io.carillon.webhook.Webhooks;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.guard.Resolver;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * The webhooks of a server: executes the webhook runs of all projects with the endpoints that the projects store in the
 * database. Create one per process, and close it after the Carillon it serves.
 */
public final class ServerWebhooks implements AutoCloseable {
    /** Limits tests and replays, because HTTP requests to the server end after 30 seconds. */
    private static final Duration MANUAL_TIMEOUT = Duration.ofSeconds(20);

    private final EndpointStore endpointStore;
    private final WebhookRunRepository runs;
    private final GonePauser gonePauser;
    private final Webhooks sender;

    /** The settings of {@link ServerWebhooks}. */
    public static final class Builder {
        private final DataSource source;
        private Optional<Keyring> keys = Optional.empty();
        private AddressPolicy guard = AddressPolicy.defaults();
        private Resolver resolver = Resolver.system();

        private Builder(DataSource source) {
            this.source = source;
        }

        /**
         * Sets the master keys that encrypt secrets. Default: none; then secrets cannot be stored, and endpoints
         * without a secret still work.
         */
        public Builder keys(Keyring ring) {
            this.keys = Optional.of(ring);
            return this;
        }

        /** Sets the addresses that webhooks may connect to. Default: public addresses on the usual HTTP ports. */
        public Builder guard(AddressPolicy policy) {
            this.guard = policy;
            return this;
        }

        /**
         * Sets the resolver of host names. Default: the resolver of the operating system. The policy checks the
         * addresses that it returns.
         */
        public Builder resolver(Resolver nameResolver) {
            this.resolver = nameResolver;
            return this;
        }

        /**
         * Creates the webhooks. This reads nothing from the database: the tables may be created later, before
         * the first use.
         */
        public ServerWebhooks build() {
            return new ServerWebhooks(this);
        }
    }

    /** Returns a builder of webhooks that read endpoints and audit through this data source. */
    public static Builder on(DataSource source) {
        return new Builder(source);
    }

    private ServerWebhooks(Builder builder) {
        Transactions transactions = new Transactions(builder.source);
        endpointStore = new EndpointStore(transactions, builder.keys);
        runs = new WebhookRunRepository(transactions);
        gonePauser = new GonePauser(Carillon.on(builder.source), transactions, runs, new AuditRepository(transactions));
        sender = Webhooks.builder()
                .addressPolicy(builder.guard)
                .resolver(builder.resolver)
                .endpoints(endpointStore)
                .manualTimeout(MANUAL_TIMEOUT)
                .listener(gonePauser)
                .build();
    }

    /**
     * Registers the webhook handler on a Carillon builder: its nodes execute webhooks, and all its processes know the
     * queue of webhooks.
     */
    public CarillonBuilder handleOn(CarillonBuilder carillon) {
        return sender.registerOn(carillon);
    }

    /** Fails if the secrets in the database cannot be decrypted. Call it when the tables exist. */
    public ServerWebhooks checkSecrets() {
        endpointStore.resealer().checkKeys();
        return this;
    }

    /** Returns the endpoints of all projects. */
    public EndpointStore endpointStore() {
        return endpointStore;
    }

    /** Returns the sender of webhooks, for tests and replays. */
    public Webhooks sender() {
        return sender;
    }

    /** Returns the repository of webhook runs. */
    public WebhookRunRepository runs() {
        return runs;
    }

    @Override
    public void close() {
        sender.close();
        gonePauser.close();
    }
}
