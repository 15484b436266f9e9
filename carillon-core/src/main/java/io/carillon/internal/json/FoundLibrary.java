package io.carillon.internal.json;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.RunState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The JSON library of the class path: Jackson 3, or else Jackson 2. A library counts as missing if it cannot write and
 * read a record, as Jackson 3 beside older annotations of Jackson 2 cannot.
 */
record FoundLibrary(@Nullable JsonLibrary library, String reasons) {
    private static final FoundLibrary ON_CLASS_PATH = find(List.of(
            new Candidate("Jackson 3 (tools.jackson.core:jackson-databind)", () -> new Jackson3()),
            new Candidate(
                    "Jackson 2.15 or later (com.fasterxml.jackson.core:jackson-databind with"
                            + " jackson-datatype-jsr310, jackson-datatype-jdk8 and jackson-module-parameter-names)",
                    () -> new Jackson2())));

    record Candidate(String name, Supplier<JsonLibrary> create) {}

    /** Has what the annotations of Jackson are needed for: names, enums, collections and times. */
    private record Probe(@JsonProperty("named") int number, RunState state, List<Map<String, Instant>> list) {}

    static JsonLibrary onClassPath() {
        return ON_CLASS_PATH.orThrow();
    }

    static FoundLibrary find(List<Candidate> candidates) {
        List<String> reasons = new ArrayList<>();
        for (Candidate candidate : candidates) {
            try {
                JsonLibrary library = candidate.create().get();
                Probe probe = new Probe(1, RunState.WAITING, List.of(Map.of("key", Instant.EPOCH)));
                if (probe.equals(library.read(library.write(probe), Probe.class))) return new FoundLibrary(library, "");
                reasons.add(candidate.name() + ": does not read what it wrote");
            } catch (LinkageError | JsonFailure unusable) {
                reasons.add(candidate.name() + ": " + TextCleaner.clean(unusable.toString(), 200));
            }
        }
        return new FoundLibrary(null, String.join("; ", reasons));
    }

    JsonLibrary orThrow() {
        if (library == null)
            throw new CarillonException(
                    ErrorCode.JSON_LIBRARY_MISSING,
                    ("Carillon found no JSON library for payloads. Add one of these to the class path, or set a codec"
                                    + " of your own with CarillonBuilder.codec. Tried %s.")
                            .formatted(reasons));
        return library;
    }
}
