-- What failed while the registry did not answer is due since it was first asked for, once the registry answers again: it comes first.
CREATE INDEX jobs_tried_first ON jobs (run_at) WHERE state = 'ready' AND attempts > 0 AND run_at <= created_at;
