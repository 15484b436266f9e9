package io.carillon.it.attempt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.Project;
import io.carillon.internal.json.JsonCodec;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.RedriveResult;
import io.carillon.run.Run;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.spi.PayloadCodec;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Results that handlers return, read as a type of the caller. */
@CarillonTest
class ResultsTest {
    record Order(String item) {}

    record Receipt(String item, int price) {}

    private static final HandlerType<Order> ORDER = HandlerType.of("order", Order.class);
    private static final Receipt TEA = new Receipt("tea", 3);
    private final ApiFixture fixture;
    private Carillon carillon;
    private boolean soldOut;

    ResultsTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @BeforeEach
    void client() {
        carillon = fixture.client(builder -> builder.handleReturning(ORDER, this::sell));
    }

    private Object sell(Order order, RunContext run) {
        if (soldOut) return Outcome.rejected("sold out");
        return order.item().equals("nothing") ? null : new Receipt(order.item(), 3);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void the_value_that_a_handler_returned_is_read_back() {
        RunId run = execute("tea");

        assertThat(carillon.runs().result(run, Receipt.class)).contains(TEA);
        assertThat(carillon.runs().get(run).orElseThrow().details().result())
                .isEqualTo(new Payload("{\"item\":\"tea\",\"price\":3}".getBytes(StandardCharsets.UTF_8), "json"));
    }

    @Test
    void there_is_no_result_unless_the_run_succeeded_with_a_value() {
        RunId waiting = carillon.enqueue(ORDER, new Order("tea"), Enqueue.after(Duration.ofHours(1)))
                .run();
        RunId without = execute("nothing");
        soldOut = true;
        RunId dead = execute("tea");

        assertThat(state(waiting)).isEqualTo(RunState.WAITING);
        assertThat(state(without)).isEqualTo(RunState.SUCCEEDED);
        assertThat(state(dead)).isEqualTo(RunState.DEAD);
        for (RunId run : new RunId[] {RunId.generate(), waiting, without, dead})
            assertThat(carillon.runs().result(run, Receipt.class)).isEmpty();
    }

    @Test
    void a_result_of_another_project_is_not_found() {
        RunId run = execute("tea");

        assertThat(carillon.project("other").runs().result(run, Receipt.class)).isEmpty();
    }

    @Test
    void a_result_that_does_not_match_the_type_is_reported() {
        RunId run = execute("tea");

        CarillonException refusal = refusal(carillon, run, Integer.class);

        assertThat(refusal.code()).isEqualTo(ErrorCode.PAYLOAD_UNREADABLE);
        assertThat(refusal).hasMessageContaining(run.toString()).hasMessageContaining("does not fit Integer");
    }

    @Test
    void a_result_of_another_codec_is_reported() {
        RunId run = execute("tea");
        Carillon other = fixture.client(builder -> builder.codec(new OtherCodec()));

        CarillonException refusal = refusal(other, run, Receipt.class);

        assertThat(refusal.code()).isEqualTo(ErrorCode.PAYLOAD_UNREADABLE);
        assertThat(refusal).hasMessageContaining("'json'").hasMessageContaining("'other'");
    }

    @Test
    void a_result_is_read_in_the_callers_transaction_and_a_wrong_type_does_not_end_it() throws SQLException {
        RunId run = execute("tea");

        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            Project in = carillon.in(connection);
            assertThat(catchThrowableOfType(
                            CarillonException.class, () -> in.runs().result(run, Integer.class)))
                    .isNotNull();
            assertThat(in.runs().result(run, Receipt.class)).contains(TEA);
            connection.rollback();
        }
    }

    @Test
    void a_redriven_run_has_its_own_result() {
        soldOut = true;
        RunId dead = execute("tea");
        soldOut = false;

        RedriveResult answer = carillon.runs().redrive(dead);
        carillon.runDue(Duration.ofSeconds(20));

        RunId again = ((RedriveResult.Redriven) answer).run();
        assertThat(carillon.runs().result(again, Receipt.class)).contains(TEA);
        assertThat(carillon.runs().result(dead, Receipt.class)).isEmpty();
    }

    private RunId execute(String item) {
        RunId run = carillon.enqueue(ORDER, new Order(item)).run();
        carillon.runDue(Duration.ofSeconds(20));
        return run;
    }

    private RunState state(RunId run) {
        return carillon.runs().get(run).map(Run::state).orElseThrow();
    }

    private static CarillonException refusal(Carillon reader, RunId run, Class<?> type) {
        return catchThrowableOfType(CarillonException.class, () -> reader.runs().result(run, type));
    }

    /** Writes JSON under another name. */
    private static final class OtherCodec implements PayloadCodec {
        private final JsonCodec json = new JsonCodec();

        @Override
        public String name() {
            return "other";
        }

        @Override
        public byte[] encode(Object value) {
            return json.encode(value);
        }

        @Override
        public <T> T decode(byte[] bytes, Class<T> type) {
            return json.decode(bytes, type);
        }
    }
}
