package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.Schedules;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleDefinition.Owner;
import io.carillon.schedule.When;
import io.carillon.spi.ScheduleEvent;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Schedules that the code of an application declares, and that a later version no longer declares. */
@CarillonTest
class DeclaredSchedulesTest {
    private static final HandlerType<String> REPORT = HandlerType.of("report", String.class);
    private static final HandlerType<String> MAIL = HandlerType.of("mail", String.class);
    private static final When HOURLY = When.every(Duration.ofHours(1));

    private final ApiFixture fixture;

    DeclaredSchedulesTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Carillon application(HandlerType<String> handler, UnaryOperator<CarillonBuilder> with) {
        return fixture.client(builder -> with.apply(builder.handle(handler, (text, run) -> {})));
    }

    private static CarillonBuilder declared(CarillonBuilder builder, String... names) {
        for (String name : names) builder.schedule(name, HOURLY, REPORT, "eu");
        return builder;
    }

    private static List<String> names(Carillon carillon) {
        return carillon.schedules().list().stream().map(Schedule::name).toList();
    }

    private static Owner owner(Carillon carillon, String name) {
        return carillon.schedules().get(name).orElseThrow().definition().owner();
    }

    @Test
    void a_schedule_that_the_code_no_longer_declares_is_reported_and_kept() {
        application(MAIL, builder -> builder.schedule("other.app", HOURLY, MAIL, "eu"));
        application(REPORT, builder -> declared(builder, "kept", "removed"))
                .schedules()
                .upsert("by.hand", HOURLY, REPORT, "eu");

        Logger logger = (Logger) LoggerFactory.getLogger(Schedules.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        Carillon later = application(REPORT, builder -> declared(builder, "kept"));
        logger.detachAppender(lines);

        assertThat(lines.list)
                .filteredOn(line -> line.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .singleElement()
                .asString()
                .contains("no longer declared", "project=default", "count=1", "schedules=removed");
        assertThat(names(later)).containsExactly("by.hand", "kept", "other.app", "removed");
    }

    @Test
    void pruning_deletes_what_is_no_longer_declared_and_nothing_else() {
        application(MAIL, builder -> builder.schedule("other.app", HOURLY, MAIL, "eu"));
        application(REPORT, builder -> declared(builder, "kept", "removed.a", "removed.b"))
                .schedules()
                .upsert("by.hand", HOURLY, REPORT, "eu");
        List<ScheduleEvent> events = new CopyOnWriteArrayList<>();

        Carillon later = application(
                REPORT,
                builder ->
                        declared(builder, "kept").scheduleListener(events::add).pruneSchedules());

        assertThat(names(later)).containsExactly("by.hand", "kept", "other.app");
        assertThat(events)
                .containsExactly(
                        new ScheduleEvent.Deleted("default", "removed.a"),
                        new ScheduleEvent.Deleted("default", "removed.b"));
    }

    @Test
    void the_last_definition_decides_who_owns_a_schedule() {
        Carillon first = application(REPORT, builder -> declared(builder, "nightly"));
        assertThat(owner(first, "nightly")).isEqualTo(Owner.CODE);

        ScheduleChange repeated = first.schedules().upsert("nightly", HOURLY, REPORT, "eu");
        assertThat(repeated).isInstanceOf(ScheduleChange.Unchanged.class);
        assertThat(owner(first, "nightly")).isEqualTo(Owner.CODE);

        first.schedules().upsert("nightly", HOURLY, REPORT, "us");
        assertThat(owner(first, "nightly")).isEqualTo(Owner.API);
        Carillon without = application(REPORT, CarillonBuilder::pruneSchedules);
        assertThat(names(without)).containsExactly("nightly");

        Carillon again = application(REPORT, builder -> declared(builder, "nightly"));
        assertThat(owner(again, "nightly")).isEqualTo(Owner.CODE);
        assertThat(application(REPORT, builder -> declared(builder, "nightly"))
                        .schedules()
                        .get("nightly")
                        .orElseThrow()
                        .version())
                .isEqualTo(again.schedules().get("nightly").orElseThrow().version());
    }
}
