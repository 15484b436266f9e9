package io.carillon.it.attempt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups of endings in which PostgreSQL rejects one row, and endings that fail with a database error. */
class EndingFaultsTest extends StoreContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @AfterEach
    void removeFaults() {
        FIXTURE.database().execute("DROP TRIGGER IF EXISTS refuse ON carillon.run");
    }

    /** Makes PostgreSQL reject each update and delete of this run with the given SQLSTATE. */
    private static void refuse(RunId run, String state) {
        FIXTURE.database().execute("""
                CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF OLD.id = '%s' THEN RAISE EXCEPTION 'refused' USING ERRCODE = '%s'; END IF;
                  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
                END $$;
                CREATE OR REPLACE TRIGGER refuse BEFORE UPDATE OR DELETE ON carillon.run FOR EACH ROW
                  EXECUTE FUNCTION refuse()
                """.formatted(run.value(), state));
    }

    private List<Attempt> claimed(UUID node, int count) {
        enqueue(RunSpec.mail(), count);
        return claim(node, count);
    }

    private static List<EndedAttempt> completed(List<Attempt> attempts) {
        return attempts.stream().map(attempt -> ended(attempt, complete())).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"22021", "23505", "54000", "P0001", "XX001"})
    void a_group_is_split_down_to_the_rejected_row(String state) {
        UUID node = node();
        List<Attempt> attempts = claimed(node, 33);
        refuse(attempts.get(20).run(), state);

        List<WriteResult> verdicts = storage().runs().apply(node, completed(attempts));

        assertThat(IntStream.range(0, 33).filter(i -> verdicts.get(i) == WriteResult.LEASE_LOST))
                .containsExactly(20);
        assertThat(get(attempts.get(20).run()).state()).isEqualTo(RunState.RUNNING);
        assertThat(get(attempts.get(19).run()).state()).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void a_rejected_row_in_a_group_of_one_is_answered_and_not_thrown() {
        UUID node = node();
        Attempt attempt = claimed(node, 1).get(0);
        refuse(attempt.run(), "22021");

        assertThat(apply(node, attempt, complete())).isEqualTo(WriteResult.LEASE_LOST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"25006", "53100", "55P03", "57014", "57P01", "57P02"})
    void a_database_error_is_thrown_and_loses_no_ending(String state) {
        UUID node = node();
        List<Attempt> attempts = claimed(node, 9);
        refuse(attempts.get(4).run(), state);

        assertThatThrownBy(() -> storage().runs().apply(node, completed(attempts)))
                .isInstanceOf(CarillonException.class);

        removeFaults();
        assertThat(storage().runs().apply(node, completed(attempts))).containsOnly(WriteResult.ACCEPTED);
    }

    @Test
    void invalid_text_fails_its_own_run_only() {
        UUID node = node();
        List<Attempt> attempts = claimed(node, 5);
        List<EndedAttempt> group = attempts.stream()
                .map(attempt -> new EndedAttempt(
                        attempt,
                        new Transition.Retry(SECOND, "oops", false),
                        SECOND,
                        attempt.equals(attempts.get(2)) ? "nul \0 inside" : "fine"))
                .toList();

        List<WriteResult> verdicts = storage().runs().apply(node, group);

        assertThat(IntStream.range(0, 5).filter(i -> verdicts.get(i) == WriteResult.LEASE_LOST))
                .containsExactly(2);
    }

    @Test
    void a_missing_partition_and_a_rejected_row_in_one_group_are_both_handled() {
        UUID node = node();
        List<Attempt> attempts = claimed(node, 9);
        FIXTURE.database().execute("UPDATE carillon.run SET day = '2020-02-29'");
        refuse(attempts.get(3).run(), "22021");

        List<WriteResult> verdicts = storage().runs().apply(node, completed(attempts));

        assertThat(IntStream.range(0, 9).filter(i -> verdicts.get(i) == WriteResult.LEASE_LOST))
                .containsExactly(3);
    }
}
