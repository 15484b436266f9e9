package io.carillon.server.http;

import java.util.Optional;

/** Compares the versions of resources with the {@code If-Match} and {@code If-None-Match} headers of a request. */
public final class EntityTags {
    private EntityTags() {}

    static String tag(long version) {
        return "\"" + version + "\"";
    }

    /**
     * Throws a problem with status 412 if the headers {@code If-Match} and {@code If-None-Match} do not allow the
     * current version; {@code present} is empty if the resource does not exist.
     */
    public static void check(ApiRequest request, Optional<Long> present) {
        Optional<String> match = request.header("If-Match");
        Optional<String> noneMatch = request.header("If-None-Match");
        if (match.isPresent() && (present.isEmpty() || !matches(match.get(), present.get()))) throw changed(present);
        if (noneMatch.isPresent() && present.isPresent() && matches(noneMatch.get(), present.get()))
            throw preconditionFailed(
                    "A resource of this name already exists, at version %d. To change it, leave out If-None-Match."
                            .formatted(present.get()));
    }

    private static boolean matches(String tags, long version) {
        for (String tag : tags.split(",", -1)) {
            String one = tag.strip();
            if (one.equals("*") || one.equals(tag(version)) || one.equals("W/" + tag(version))) return true;
        }
        return false;
    }

    private static Problem changed(Optional<Long> present) {
        return preconditionFailed(present.map(version ->
                        "The resource is now at version %d. Read it again and repeat the change.".formatted(version))
                .orElse("The resource does not exist. To create it, leave out If-Match."));
    }

    private static Problem preconditionFailed(String detail) {
        return Problem.of(412, "precondition-failed", detail);
    }
}
