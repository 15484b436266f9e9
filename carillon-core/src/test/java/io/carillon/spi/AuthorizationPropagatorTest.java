package io.carillon.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Origin;
import io.carillon.run.Outcome;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.schedule.ScheduleId;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AuthorizationPropagatorTest {
    private static final RunId RUN = new RunId(new UUID(0, 7));
    private static final ScheduleId SCHEDULE = new ScheduleId(new UUID(0, 8));

    /**
     * Headers as stored tables contain them, valid until the year 2100: encrypted with {@link #KEY} for the text form
     * of {@link #RUN} and of {@link #SCHEDULE}. They must stay readable.
     */
    private static final String STORED_FOR_RUN = "s1~authorization~"
            + "K-qTG31WyDsLMfGaE3ySTIHiY71Q0QdWq28iGgrTbehsHzQ1qwYb4Zrv4xwbd7kYSPPyNV2iss2foorN~"
            + "_7ON0TNi1Dk-9UXZhfSSkMVF71zdatQdccgrKqw6HG81HvLqLjrPJ7n8HSvPdA";

    private static final String STORED_FOR_SCHEDULE = "s1~authorization~"
            + "-vRr2cz1w0BzIAatiHSUtCBBdPy7escVA9688ZzSqYskf_TbF1o2Q1xcvKmljZKt1r74kSBg8UGAoCRv~"
            + "iQIYbzYXqXEzPYnlAsYNPFQ1O4sR8nxbypqpdepYW_J948RvkeHDTFsD6eGaPw";

    private static final SecretKeySpec KEY = new SecretKeySpec(new byte[32], "AES");

    private @Nullable String caller;
    private final AuthorizationPropagator propagator =
            new AuthorizationPropagator(KEY, Duration.ofHours(1), () -> caller);

    @Test
    void opens_the_stored_authorization_of_a_run() throws Exception {
        assertThat(read(run(null), STORED_FOR_RUN)).isEqualTo("bearer ann");
        assertThat(read(run(SCHEDULE), STORED_FOR_RUN)).isEqualTo("none");
    }

    @Test
    void opens_the_stored_authorization_of_a_schedule_in_its_runs() throws Exception {
        assertThat(read(run(SCHEDULE), STORED_FOR_SCHEDULE)).isEqualTo("bearer bob");
        assertThat(read(run(new ScheduleId(new UUID(0, 9))), STORED_FOR_SCHEDULE))
                .isEqualTo("none");
        assertThat(read(run(null), STORED_FOR_SCHEDULE)).isEqualTo("none");
    }

    @Test
    void opens_what_it_captured() throws Exception {
        assertThat(propagator.capture(run(null))).isEmpty();
        assertThat(propagator.captureForSchedule(SCHEDULE)).isEmpty();
        caller = "bearer eve";

        assertThat(read(run(null), propagator.capture(run(null)).get("authorization")))
                .isEqualTo("bearer eve");
        assertThat(read(run(SCHEDULE), propagator.captureForSchedule(SCHEDULE).get("authorization")))
                .isEqualTo("bearer eve");
    }

    /** Returns the authorization that the handler of this run gets. */
    private String read(RunInfo run, String sealed) throws Exception {
        AtomicReference<String> seen = new AtomicReference<>();
        propagator.runWithContext(run, Map.of("authorization", sealed), () -> {
            seen.set(propagator.current().orElse("none"));
            return Outcome.succeeded(null);
        });
        assertThat(propagator.current()).isEmpty();
        return seen.get();
    }

    private static RunInfo run(@Nullable ScheduleId schedule) {
        return new RunInfo(
                RUN,
                "default",
                "default",
                Target.handler("job"),
                Priority.NORMAL,
                schedule == null ? Origin.DIRECT : Origin.TRIGGER,
                1,
                0,
                schedule,
                null);
    }
}
