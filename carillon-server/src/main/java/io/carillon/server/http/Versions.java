package io.carillon.server.http;

import java.util.Optional;

/** Versions as entity tags: what a caller has seen, and what it must still be. */
public final class Versions {
    private Versions() {}

    static String tag(long version) {
        return "\"" + version + "\"";
    }

    /** Refuses unless the present version, if there is one, is what {@code If-Match} and {@code If-None-Match} allow. */
    public static void check(Call call, Optional<Long> present) {
        Optional<String> match = call.header("If-Match");
        Optional<String> noneMatch = call.header("If-None-Match");
        if (match.isPresent() && (present.isEmpty() || !names(match.get(), present.get()))) throw changed(present);
        if (noneMatch.isPresent() && present.isPresent() && names(noneMatch.get(), present.get()))
            throw failed("There is one of this name already, at version %d. To change it, leave If-None-Match out."
                    .formatted(present.get()));
    }

    private static boolean names(String tags, long version) {
        for (String tag : tags.split(",", -1)) {
            String one = tag.strip();
            if (one.equals("*") || one.equals(tag(version)) || one.equals("W/" + tag(version))) return true;
        }
        return false;
    }

    private static Problem changed(Optional<Long> present) {
        return failed(present.map(version ->
                        "It is at version %d now. Read it again, and repeat your change on that.".formatted(version))
                .orElse("It does not exist. Leave If-Match out to create it."));
    }

    private static Problem failed(String detail) {
        return Problem.of(412, "precondition-failed", detail);
    }
}
