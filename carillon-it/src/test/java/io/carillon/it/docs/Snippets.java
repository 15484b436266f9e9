package io.carillon.it.docs;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import io.carillon.Authorization;
import io.carillon.Bulk;
import io.carillon.Carillon;
import io.carillon.Project;
import io.carillon.engine.EngineConfig;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.opentelemetry.CarillonTraces;
import io.carillon.run.Attempt;
import io.carillon.run.Enqueue;
import io.carillon.run.Explanation;
import io.carillon.run.HandlerType;
import io.carillon.run.Limits;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunListener;
import io.carillon.run.RunState;
import io.carillon.schedule.DroppedHistory;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.ScheduleEvent;
import io.carillon.schedule.When;
import io.carillon.server.CarillonServer;
import io.carillon.server.access.JwtTokens;
import io.carillon.server.access.KeySet;
import io.carillon.store.LedgerEntry;
import io.carillon.store.WakeTransport;
import io.carillon.store.Wakeup;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.crypto.SecretKey;
import javax.sql.DataSource;

/** Every Java line of the user pages, compiled. {@link SnippetsTest} holds the pages to it. */
@SuppressWarnings("unused")
final class Snippets {
    // spotless:off
    record Reminder(UUID order, String to) {}
    record Report(String region) {}
    record Invoice(int number) {}
    record Charge(long amount) {}

    static final HandlerType<Reminder> REMIND = HandlerType.of("reminder.send", Reminder.class);
    static final HandlerType<Report> REPORT = HandlerType.of("report", Report.class);
    static final HandlerType<Invoice> INVOICE = HandlerType.of("invoice", Invoice.class);
    static final HandlerType<Charge> CHARGE = HandlerType.of("charge", Charge.class);

    static final class InvalidAddress extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    interface Mail { void send(String to); }
    interface Books { void post(Connection connection, Invoice invoice); }
    interface Bank { boolean closed(); String charge(Charge charge); }

    private Snippets() {}

    static void frontPage(DataSource dataSource, Mail mail, Reminder reminder, UUID order, Connection connection) {
Carillon carillon = Carillon.on(dataSource)
    .handle(REMIND, (r, run) -> mail.send(r.to()))
    .schedule("nightly-report", When.cron("0 2 * * *", "Europe/Paris"), REPORT, new Report("eu"))
    .start();

carillon.enqueue(REMIND, reminder, Enqueue.after(ofHours(24)).key("remind:" + order));
carillon.in(connection).enqueue(REMIND, reminder);   // commits with your own transaction, or not at all
    }

    static void guarantees(DataSource dataSource, Books books) {
Carillon.on(dataSource)
    .handleInTransaction(INVOICE, (invoice, run, connection) -> books.post(connection, invoice))
    .start();
    }

    static void handlers(DataSource dataSource, Mail mail, Bank bank) {
Carillon carillon = Carillon.on(dataSource)
    .handle(REMIND, (reminder, run) -> mail.send(reminder.to()),
        options -> options.queue("mail").timeout(ofMinutes(2))
            .retry(Retry.exponential(ofSeconds(5)).factor(2).cap(ofHours(1)).attempts(8))
            .never(InvalidAddress.class))
    .start();
        Carillon.on(dataSource)
.handleReturning(CHARGE, (charge, run) -> {
    if (bank.closed()) return Outcome.snoozed(ofHours(1));        // no failure, again later
    if (charge.amount() < 0) return Outcome.rejected("negative"); // dead at once
    return bank.charge(charge);                                   // stored as the run's result
})
.schedule("nightly-report", When.cron("0 2 * * *", "Europe/Paris"), REPORT, new Report("eu"))
            .build();
    }

    static void runs(Carillon carillon, Reminder reminder, List<Reminder> reminders, UUID order, Connection connection) {
carillon.enqueue(REMIND, reminder);
carillon.enqueue(REMIND, reminder, Enqueue.after(ofHours(24)).key("remind:" + order));
carillon.enqueue(REMIND, reminder, Enqueue.now().key("remind:" + order, ofHours(1)));   // and the key holds for an hour
carillon.enqueueAll(REMIND, reminders);
carillon.in(connection).enqueue(REMIND, reminder);   // your transaction: visible when it commits
carillon.enqueue(REMIND, reminder, Enqueue.now().concurrencyKey(reminder.to()));       // one of this key at a time
carillon.enqueue(REMIND, reminder, Enqueue.now().concurrencyKey(reminder.to(), 5));    // five
carillon.enqueue(REMIND, reminder, Enqueue.now().fifoKey("order:" + order));           // one after the other, in order
carillon.enqueue(REMIND, reminder, Enqueue.now().rateKey(reminder.to(), 5, ofSeconds(1))); // five starts in any second
    }

    interface Alarm { void raise(String what, long count); }

    static void listeners(DataSource dataSource, Alarm alarm) {
Carillon.on(dataSource)
    .scheduleListener(event -> {
        if (event instanceof ScheduleEvent.Missed missed) alarm.raise(missed.schedule(), missed.instants().count());
    })
    .listener(new RunListener() {
        @Override
        public void dead(Attempt attempt, String error) {
            alarm.raise(attempt.target().name(), 1);
        }
    })
    .start();
    }

    static void bulk(Carillon carillon, Instant tomorrow, AtomicBoolean enough) {
Bulk late = carillon.runs().bulk(RunFilter.all().queue("mail").state(RunState.WAITING));
long matching = late.count(10_000);                                                    // changes nothing; 10,000 means that many or more
late.reschedule(tomorrow);
late.watched(progress -> !enough.get()).cancel();                                      // asked after each chunk: go on?
Bulk dead = carillon.runs().bulk(RunFilter.all().handler("reminder.send").state(RunState.DEAD));
dead.redrive();
dead.delete();
    }

    static void projects(Carillon carillon, Reminder reminder, Connection connection, RunId run) {
Project acme = carillon.project("acme");
acme.enqueue(REMIND, reminder);
acme.schedules().pause("nightly-report", "their holiday", null);
carillon.in(connection).schedules().delete("nightly-report");
acme.in(connection).runs().cancel(run);
    }

    static void rest(DataSource dataSource) {
Carillon carillon = Carillon.on(dataSource).start();
CarillonServer server = CarillonServer.on(carillon, dataSource).listen("127.0.0.1", 8080).start();
server.bootstrapKey().ifPresent(System.out::println);
    }

    static void tokens(Carillon carillon, DataSource dataSource) {
KeySet keys = KeySet.at(URI.create("https://id.example/.well-known/jwks.json"));
CarillonServer.on(carillon, dataSource).tokens(JwtTokens.signed("https://id.example", "carillon", keys)).start();
    }

    static void limits(Carillon carillon) {
carillon.queues().limit("mail", Limits.running(10));                                   // ten at a time, on all nodes together
carillon.queues().limit("mail", Limits.rate(600, ofMinutes(1)));                       // ten starts a second
carillon.queues().limit("mail", Limits.running(10).andRate(600, ofMinutes(1)));        // both
carillon.queues().limit("mail", Limits.none());
carillon.queues().weigh("mail", 3);                                                    // three parts, where other queues have one
    }

    static void overlaps(Carillon carillon) {
carillon.schedules().upsert("sync", When.every(ofMinutes(5)), REPORT, new Report("eu"), options -> options.overlap(Overlap.SKIP));
    }

    static void adaptive(Carillon carillon) {
carillon.schedules().upsert("sweep", When.adaptive(ofSeconds(30), ofMinutes(10)), REPORT, new Report("eu"));
    }

    static void missed(Carillon carillon, Instant start, Instant end) {
carillon.schedules().upsert("rates", When.cron("*/5 * * * *", "UTC"), REPORT, new Report("eu"),
    options -> options.missed(Missed.RUN_ALL).missedCap(20).missedSpread(ofSeconds(10))
        .grace(ofMinutes(1)).catchUp(ofHours(6)));
When workdays = When.cron("0 6 * * MON-FRI", "Europe/Paris")
    .from(start).until(end)                                 // both inclusive
    .except(LocalDate.of(2026, 12, 25), LocalDate.of(2027, 1, 1))
    .maxRuns(250)
    .jitter(ofMinutes(5));
    }

    static void editing(Carillon carillon, Instant from, Instant to, Instant until) {
carillon.schedules().pause("nightly-report", "stocktaking", until);          // null: until somebody resumes it
carillon.schedules().pause("nightly-report", "ann", "stocktaking", until);   // and by whom
carillon.schedules().resume("nightly-report");
carillon.schedules().upsert("rates", When.cron("*/5 * * * *", "UTC"), REPORT, new Report("eu"),
    options -> options.pauseAfter(5));
RunId run = carillon.schedules().trigger("nightly-report");
int runs = carillon.schedules().previewBackfill("nightly-report", from, to);
int made = carillon.schedules().backfill("nightly-report", from, to);
carillon.schedules().backfill("nightly-report", from, to, DroppedHistory.RUN);
List<LedgerEntry> lines = carillon.schedules().ledger("nightly-report", from, to);
Optional<Explanation> why = carillon.runs().explain(run);
    }

    static void wakeup(DataSource dataSource, WakeTransport transport, Carillon carillon) {
Carillon.on(dataSource).wakeup(Wakeup.polling()).start();
Carillon.on(dataSource).wakeup(Wakeup.hybrid(transport)).start();
Carillon.on(dataSource).wakeup(Wakeup.named(System.getenv("WAKEUP"), null)).start();   // names what is missing
carillon.wakeup(Wakeup.polling());   // while it runs; no data changes
    }

    static void pooler(DataSource throughPooler, DataSource direct) {
Carillon.on(throughPooler).listenDataSource(direct).start();
    }

    static void committed(Carillon carillon, Connection connection, Reminder reminder) throws SQLException {
List<Runnable> afterCommit = new ArrayList<>();
carillon.in(connection, afterCommit::add).enqueue(REMIND, reminder);
connection.commit();
afterCommit.forEach(Runnable::run);
    }

    static void meters(DataSource dataSource, MeterRegistry registry) {
CarillonMeters meters = new CarillonMeters(registry);
Carillon carillon = Carillon.on(dataSource).listener(meters).start();
meters.watch(carillon);
    }

    static void companions(DataSource dataSource, OpenTelemetry openTelemetry, SecretKey key, Calls calls) {
Carillon traced = Carillon.on(dataSource).companion(new CarillonTraces(openTelemetry)).start();
Authorization authorization = new Authorization(key, ofHours(1), () -> calls.currentToken());
Carillon.on(dataSource)
    .companion(authorization)
    .handle(REMIND, (reminder, run) -> calls.asCaller(authorization.current().orElseThrow(), reminder))
    .start();
    }

    static void retention(DataSource dataSource) {
Carillon.on(dataSource).config(EngineConfig.defaults().with(new EngineConfig.Retention(ofDays(90), ofDays(365)))).start();
    }

    interface Calls { String currentToken(); void asCaller(String token, Reminder reminder); }
    // spotless:on
}
