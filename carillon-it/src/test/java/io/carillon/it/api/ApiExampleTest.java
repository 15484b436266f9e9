package io.carillon.it.api;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.QueueInfo;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The example of the API page, as a user writes it. */
@CarillonTest
class ApiExampleTest {
    record Reminder(UUID order, String to) {}

    record Report(String region) {}

    record Invoice(String number) {}

    static final class InvalidAddress extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final HandlerType<Reminder> REMIND = HandlerType.of("reminder.send", Reminder.class);
    static final HandlerType<Report> REPORT = HandlerType.of("report.make", Report.class);
    static final HandlerType<Invoice> INVOICE = HandlerType.of("invoice.post", Invoice.class);

    private final Queue<String> mail = new ConcurrentLinkedQueue<>();

    @Test
    void the_example_of_the_api_page_works_as_written(TestDatabase database) throws SQLException {
        DataSource dataSource = database.dataSource();
        database.execute("CREATE TABLE book (number text)");
        UUID order = UUID.randomUUID();
        Reminder reminder = new Reminder(order, "ann@example.org");

        try (Carillon carillon = Carillon.on(dataSource)
                .handle(
                        REMIND,
                        (r, run) -> mail.add(r.to()),
                        HandlerOptions.defaults()
                                .queue("mail")
                                .timeout(ofMinutes(2))
                                .retry(Retry.exponential(ofSeconds(5))
                                        .factor(2)
                                        .cap(ofHours(1))
                                        .attempts(8))
                                .noRetryOn(InvalidAddress.class))
                .handleInTransaction(INVOICE, (invoice, run, connection) -> post(connection, invoice))
                .handle(REPORT, (report, run) -> {})
                .schedule(
                        "nightly-report",
                        When.cron("0 2 * * *", "Europe/Paris"),
                        REPORT,
                        new Report("eu"),
                        ScheduleOptions.defaults().missed(MissedPolicy.RUN_ONCE).overlap(OverlapPolicy.ALLOW))
                .start()) {

            EnqueueResult now = carillon.enqueue(REMIND, reminder);
            EnqueueResult later = carillon.enqueue(
                    REMIND, reminder, Enqueue.after(ofHours(24)).uniqueKey("remind:" + order));
            EnqueueResult again = carillon.enqueue(
                    REMIND, reminder, Enqueue.after(ofHours(24)).uniqueKey("remind:" + order));
            EnqueueResult urgent =
                    carillon.enqueue(REMIND, reminder, Enqueue.at(Instant.EPOCH).priority(Priority.HIGH));
            List<EnqueueResult> many = carillon.enqueueAll(REMIND, List.of(reminder, reminder));
            EnqueueResult invoice = carillon.enqueue(INVOICE, new Invoice("R-1"));
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                carillon.in(connection).enqueue(REMIND, reminder);
                connection.commit();
                connection.setAutoCommit(true);
            }

            assertThat(again).isEqualTo(new EnqueueResult.Duplicate(later.run()));
            assertThat(many).hasSize(2);
            ApiFixture.awaitState(carillon, now.run(), RunState.SUCCEEDED);
            ApiFixture.awaitState(carillon, urgent.run(), RunState.SUCCEEDED);
            ApiFixture.awaitState(carillon, invoice.run(), RunState.SUCCEEDED);
            ApiFixture.eventually().until(() -> mail.size() == 5);
            assertThat(carillon.runs().get(later.run()).map(Run::state)).contains(RunState.WAITING);
            assertThat(carillon.schedules().get("nightly-report")).isPresent();
            assertThat(carillon.queues().list()).extracting(QueueInfo::name).contains("mail");
            assertThat(carillon.nodes()).hasSize(1);
        }
    }

    private static void post(Connection connection, Invoice invoice) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO book VALUES (?)")) {
            insert.setString(1, invoice.number());
            insert.executeUpdate();
        }
    }
}
