package io.carillon.run;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What the engine decided about an attempt: the only way a run changes after its claim. Durations, no instants; the database adds them to its clock. */
public sealed interface Transition {
    /** The run ends well. */
    record Complete(@Nullable Payload result) implements Transition {}

    /** One failure more, and again after a pause. */
    record Retry(Duration pause, String error, boolean timedOut) implements Transition {}

    /** Again after a pause; nothing counted. */
    record Snooze(Duration pause) implements Transition {}

    /** The attempt stays open for somebody outside; if nothing comes in time, it has failed: again after the pause, or (null) dead. */
    record Await(Duration atMost, String digest, @Nullable Duration pause) implements Transition {}

    /** The run ends in the dead letter, with its payload. */
    record Die(String error) implements Transition {}

    /** The run ends because somebody cancelled it. */
    record Cancel(String reason) implements Transition {}
}
