package io.carillon.server.hooks;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.run.RunId;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.HookRepository;
import io.carillon.server.store.Transactions;
import io.carillon.webhook.Delivery;
import io.carillon.webhook.DeliveryListener;
import io.carillon.webhook.Envelope;
import io.carillon.webhook.Verdict;
import io.carillon.webhook.WebhookTarget;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Pauses the schedule of a run whose receiver said 410, with a line in the audit log in the same transaction: nobody is called who asked not to be. */
final class Gone implements DeliveryListener, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Gone.class);
    private static final String BY = "webhook";
    private static final String WHY = "the receiver answered 410: it wants no more of it";

    private final CarillonBuilder builder;
    private final Transactions transactions;
    private final HookRepository runs;
    private final AuditRepository audit;
    private @Nullable Carillon door;

    Gone(CarillonBuilder builder, Transactions transactions, HookRepository runs, AuditRepository audit) {
        this.builder = builder;
        this.transactions = transactions;
        this.runs = runs;
        this.audit = audit;
    }

    @Override
    public void delivered(Envelope envelope, WebhookTarget target, Delivery delivery) {
        if (delivery.verdict() != Verdict.GONE) return;
        Optional<String> paused = transactions.in(envelope.project(), connection -> pause(connection, envelope));
        paused.ifPresent(name -> log.info(
                "schedule paused, its receiver is gone project={} schedule={} run={}",
                envelope.project(),
                name,
                envelope.id()));
    }

    private Optional<String> pause(Connection connection, Envelope envelope) throws SQLException {
        String project = envelope.project();
        Optional<String> name =
                runs.schedule(connection, project, RunId.parse(envelope.id()).value());
        if (name.isEmpty()) return Optional.empty();
        boolean paused =
                door().project(project).in(connection, hint -> {}).schedules().pause(name.get(), BY, WHY, null);
        if (!paused) return Optional.empty();
        audit.write(
                connection,
                project,
                new AuditRepository.Change(
                        BY,
                        "schedule.pause",
                        "schedule/" + name.get(),
                        "{\"reason\":\"%s\",\"run\":\"%s\"}".formatted(WHY, envelope.id()),
                        envelope.id()));
        return name;
    }

    /** A door of its own without a node, made when it is first needed: the node that delivers is not built yet when this is. */
    private synchronized Carillon door() {
        if (door == null) door = builder.build();
        return door;
    }

    @Override
    public synchronized void close() {
        if (door != null) door.close();
    }
}
