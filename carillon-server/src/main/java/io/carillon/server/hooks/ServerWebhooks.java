package io.carillon.server.hooks;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.seal.Keyring;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.HookRepository;
import io.carillon.server.store.SecretRepository;
import io.carillon.server.store.Transactions;
import io.carillon.webhook.Webhooks;
import io.carillon.webhook.guard.GuardPolicy;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * The webhooks of a server: runs of all projects that call URLs, with the secrets their projects keep in the database. One for a process; close it after the
 * Carillon it serves.
 */
public final class ServerWebhooks implements AutoCloseable {
    private final Vault vault;
    private final HookRepository runs;
    private final Gone gone;
    private final Webhooks sender;

    /** Collects what they need. */
    public static final class Builder {
        private final DataSource source;
        private Optional<Keyring> keys = Optional.empty();
        private GuardPolicy guard = GuardPolicy.defaults();

        private Builder(DataSource source) {
            this.source = source;
        }

        /** The master keys that secrets are sealed with; without them there are none, and webhooks that need none work all the same. */
        public Builder keys(Keyring ring) {
            this.keys = Optional.of(ring);
            return this;
        }

        /** Where webhooks may go: public addresses on the usual ports unless set. */
        public Builder guard(GuardPolicy policy) {
            this.guard = policy;
            return this;
        }

        /** The tables must be there only when it is used. */
        public ServerWebhooks build() {
            return new ServerWebhooks(this);
        }
    }

    /** Starts here, with a pool for the secrets. */
    public static Builder on(DataSource source) {
        return new Builder(source);
    }

    private ServerWebhooks(Builder builder) {
        Transactions transactions = new Transactions(builder.source);
        vault = new Vault(new SecretRepository(transactions), builder.keys);
        runs = new HookRepository(transactions);
        gone = new Gone(Carillon.on(builder.source), transactions, runs, new AuditRepository(transactions));
        sender = Webhooks.builder()
                .guard(builder.guard)
                .secrets(vault)
                .listener(gone)
                .build();
    }

    /** Makes nodes built there execute webhooks, and all processes built there know their queue. */
    public CarillonBuilder handleOn(CarillonBuilder carillon) {
        return sender.handleOn(carillon);
    }

    /** Refuses to go on if the secrets in the database cannot be opened. Call it once the tables are there. */
    public ServerWebhooks check() {
        vault.check();
        return this;
    }

    public Vault vault() {
        return vault;
    }

    /** Sends by hand. */
    public Webhooks sender() {
        return sender;
    }

    /** What is known of runs. */
    public HookRepository runs() {
        return runs;
    }

    @Override
    public void close() {
        sender.close();
        gone.close();
    }
}
