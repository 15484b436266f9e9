package io.carillon.server.hooks;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.PauseOptions;
import io.carillon.internal.jdbc.Session;
import io.carillon.run.RunId;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.Transactions;
import io.carillon.server.store.WebhookRunRepository;
import io.carillon.webhook.Delivery;
import io.carillon.webhook.DeliveryListener;
import io.carillon.webhook.DeliveryMetadata;
import io.carillon.webhook.Verdict;
import io.carillon.webhook.WebhookTarget;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pauses the schedule of a run whose receiver answered 410, and writes an audit entry in the same transaction. A
 * receiver that asked not to be called again receives no further call.
 */
final class GonePauser implements DeliveryListener, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(GonePauser.class);
    private static final String ACTOR = "webhook";
    private static final String REASON = "the receiver answered 410 (gone)";

    private final CarillonBuilder builder;
    private final Transactions transactions;
    private final WebhookRunRepository runs;
    private final AuditRepository audit;
    private @Nullable Carillon carillon;

    GonePauser(CarillonBuilder builder, Transactions transactions, WebhookRunRepository runs, AuditRepository audit) {
        this.builder = builder;
        this.transactions = transactions;
        this.runs = runs;
        this.audit = audit;
    }

    @Override
    public void onDelivery(DeliveryMetadata deliveryMetadata, WebhookTarget target, Delivery delivery) {
        if (delivery.verdict() != Verdict.GONE) return;
        Optional<String> paused =
                transactions.runInProject(deliveryMetadata.project(), session -> pause(session, deliveryMetadata));
        paused.ifPresent(name -> log.info(
                "schedule paused because the receiver answered 410 project={} schedule={} run={}",
                deliveryMetadata.project(),
                name,
                deliveryMetadata.id()));
    }

    private Optional<String> pause(Session session, DeliveryMetadata deliveryMetadata) throws SQLException {
        String project = deliveryMetadata.project();
        Optional<String> name = runs.activeScheduleOf(
                session, project, RunId.parse(deliveryMetadata.id()).value());
        if (name.isEmpty()) return Optional.empty();
        boolean paused = carillon()
                .project(project)
                .in(session.connection(), hint -> {})
                .schedules()
                .pause(name.get(), PauseOptions.untilResumed().by(ACTOR).reason(REASON));
        if (!paused) return Optional.empty();
        audit.write(
                session,
                project,
                new AuditRepository.Change(
                        ACTOR,
                        "schedule.pause",
                        "schedule/" + name.get(),
                        "{\"reason\":\"%s\",\"run\":\"%s\"}".formatted(REASON, deliveryMetadata.id()),
                        deliveryMetadata.id()));
        return name;
    }

    /**
     * Returns a Carillon without a node, built on first use: the Carillon whose node delivers does not exist yet when
     * this listener is created.
     */
    private synchronized Carillon carillon() {
        if (carillon == null) carillon = builder.build();
        return carillon;
    }

    @Override
    public synchronized void close() {
        if (carillon != null) carillon.close();
    }
}
